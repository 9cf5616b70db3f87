/** The database branches of a project on a real local service, and what windows know about them. */
import assert from 'node:assert/strict';
import { accountId } from '../../../../src/extension/account/accounts.ts';
import { KnownHosts } from '../../../../src/extension/gitBranch/knownHosts.ts';
import { branchCalls, type Api, type Created } from '../../../helpers/branchCalls.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import type { BranchRef } from '../../../../src/extension/account/refs.ts';

/** Milliseconds. Long enough to load the lists before the branch expires. */
const TIME_TO_LIVE = 2_000;

export class Databases {
  readonly knownHosts = new KnownHosts(new MemoryMap());
  /** Branches that can't be used any more, and why, as far as the windows know. */
  readonly gone = new Map<string, 'deleted' | 'expired'>();
  /** The default branch, which is the parent of the others. */
  readonly first: string;
  isServiceUp = true;
  readonly #hosts = new Map<string, string>();
  readonly model: ConnectedModel;
  readonly #api: Api;
  readonly #project: Created;
  #service: LocalService;

  static async create(service: LocalService): Promise<Databases> {
    const api = branchCalls(service);
    const project = await api.change('POST', '', { project: { name: 'Shop' } });
    const databases = new Databases(service, await connectModel(service, { key: service.key }), api, project);
    await databases.#learn();
    return databases;
  }

  private constructor(service: LocalService, model: ConnectedModel, api: Api, project: Created) {
    this.#service = service;
    this.model = model;
    this.#api = api;
    this.#project = project;
    this.first = project.branch.id;
    this.#setHost(project);
  }

  /** The databases that were created and still exist. */
  get usable(): readonly string[] {
    return [...this.#hosts.keys()].filter((id) => id !== this.first && !this.gone.has(id));
  }

  hostOf(id: string): string {
    const host = this.#hosts.get(id);
    assert.ok(host, `no host of ${id}`);
    return host;
  }

  isUsable(host: string | undefined): boolean {
    return [this.first, ...this.usable].some((id) => this.#hosts.get(id) === host);
  }

  ref(branchId: string): BranchRef {
    return { account: accountId(this.model.account), projectId: this.#project.project.id, branchId };
  }

  async url(id: string): Promise<string> {
    const [role, database] = [this.#project.roles[0]?.name, this.#project.databases[0]?.name];
    const query = `?branch_id=${id}&role_name=${role}&database_name=${database}`;
    const { uri } = await this.#api.send<{ uri: string }>('GET', this.#address(`connection_uri${query}`));
    return uri;
  }

  async add(name: string): Promise<string> {
    const created = await this.#api.createBranch(this.#project.project.id, { name });
    this.#setHost(created);
    await this.#learn();
    return created.branch.id;
  }

  async delete(id: string): Promise<void> {
    await this.#api.change('DELETE', this.#address(`branches/${id}`));
    this.gone.set(id, 'deleted');
    await this.#learn();
  }

  /** Until the lists are loaded again, windows only know when the branch expired. */
  async expire(id: string): Promise<void> {
    await this.#waitForDeletions();
    const expiresAt = Date.now() + TIME_TO_LIVE;
    const branch = { expires_at: new Date(expiresAt).toISOString() };
    await this.#api.change('PATCH', this.#address(`branches/${id}`), { branch });
    await this.#learn();
    this.gone.set(id, 'expired');
    // On a slow machine, the lists may be those after the deletion.
    if (Date.now() >= expiresAt) await this.#learn();
    await until(`${id} has expired`, async () => Date.now() > expiresAt);
  }

  async toggleService(): Promise<void> {
    const { baseUrl, dataDir, key } = this.#service;
    if (this.isServiceUp) await this.#service.stop();
    else this.#service = await startLocalService({ dataDir, key, args: ['--port', new URL(baseUrl).port] });
    this.isServiceUp = !this.isServiceUp;
  }

  async stopService(): Promise<void> {
    if (this.isServiceUp) await this.#service.stop();
  }

  /** What a window does when its lists have changed. */
  async #learn(): Promise<void> {
    await this.#waitForDeletions();
    const { inventory } = this.model;
    const { projectId } = this.ref(this.first);
    await inventory.ensureProjects();
    await inventory.refreshComputes(projectId);
    await inventory.branches.refresh(projectId);
    await this.knownHosts.refresh(inventory, accountId(this.model.account), [...this.#hosts.values()]);
  }

  /** The service looks for expired branches every few seconds. */
  async #waitForDeletions(): Promise<void> {
    const expired = [...this.gone].flatMap(([id, reason]) => (reason === 'expired' ? [id] : []));
    if (expired.length === 0) return;
    await until('the service has deleted the expired branches', async () => {
      const branches = await this.#api.branches(this.#project.project.id);
      return !branches.some(({ id }) => expired.includes(id));
    });
    for (const id of expired) this.gone.set(id, 'deleted');
  }

  #setHost({ branch, endpoints: [compute] }: Created): void {
    this.#hosts.set(branch.id, compute?.host ?? '');
  }

  #address(below: string): string {
    return `/${this.#project.project.id}/${below}`;
  }
}
