/** An account of the real service, behind a fault proxy, whose key is rotated: before each test it has one key, “laptop”. */
import assert from 'node:assert/strict';
import { Client } from '../../src/api/client.ts';
import { Accounts, type Account } from '../../src/model/account/accounts.ts';
import { Connection } from '../../src/model/account/connection.ts';
import {
  resumeRotation,
  rotateKey,
  type ExistingKey,
  type RotationOutcome,
  type RotationParts,
} from '../../src/model/account/keyRotation.ts';
import {
  PendingRotations,
  type PendingRotation,
  type RotationRecord,
  type RotationStore,
} from '../../src/model/account/pendingRotations.ts';
import { FaultProxy } from './faultProxy.ts';
import type { LocalService } from './localService.ts';
import { SecretMap } from './secretMap.ts';

/** The pending rotations of all windows, in memory. */
export class RotationMap implements RotationStore {
  readonly records = new Map<string, RotationRecord>();

  all(): readonly RotationRecord[] {
    return [...this.records.values()];
  }

  async create(account: string, rotation: unknown): Promise<boolean> {
    if (this.records.has(account)) return false;
    this.records.set(account, { rotation: JSON.parse(JSON.stringify(rotation)), beat: 0 });
    return true;
  }

  async touch(account: string): Promise<void> {
    const record = this.records.get(account);
    if (record !== undefined) this.records.set(account, { ...record, beat: record.beat + 1 });
  }

  async remove(account: string): Promise<void> {
    this.records.delete(account);
  }
}

export class RotatingAccount {
  readonly secrets = new SecretMap();
  readonly rotations = new RotationMap();
  readonly account: Account;
  readonly proxy: FaultProxy;
  readonly oldKey: { readonly id: number; readonly name: string };
  /** Values that the rotation reported as secret. */
  readonly seen: string[] = [];
  readonly #service: LocalService;
  accounts = new Accounts(this.secrets);
  pending = new PendingRotations(this.rotations);

  private constructor(service: LocalService, proxy: FaultProxy, id: number) {
    this.#service = service;
    this.proxy = proxy;
    this.account = { baseUrl: proxy.baseUrl, name: '' };
    this.oldKey = { id, name: 'laptop' };
  }

  static async start(service: LocalService): Promise<RotatingAccount> {
    const proxy = await FaultProxy.start({ upstream: service.baseUrl });
    const old = await service.client.createApiKey('laptop');
    const rotating = new RotatingAccount(service, proxy, old.id);
    await rotating.accounts.add(rotating.account, old.key);
    return rotating;
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    for (const { id } of await this.existing()) await this.#service.client.revokeApiKey(id ?? 0);
  }

  readonly openClient = async ({ baseUrl }: Account, key: string) =>
    new Client({ baseUrl, key, fetch: globalThis.fetch, retries: 0 });

  get parts(): RotationParts {
    const { accounts, pending, openClient } = this;
    const onSecret = (value: string) => this.seen.push(value);
    return { accounts, pending, openClient, organizationId: () => undefined, onSecret };
  }

  /** The connection of a window to the account with its stored key. */
  async connection(): Promise<Connection> {
    return new Connection(this.account, await this.storedKey(), this.openClient);
  }

  async rotate(more: Partial<PendingRotation> = {}): Promise<RotationOutcome> {
    const keys = { name: 'laptop 2', oldKey: this.oldKey, ...more };
    return await rotateKey(this.parts, await this.connection(), keys);
  }

  /** As a window does after a reload, when nothing fails any more. */
  async resume(): Promise<RotationOutcome> {
    this.proxy.clear();
    this.pending = new PendingRotations(this.rotations);
    this.accounts = new Accounts(this.secrets);
    return await resumeRotation(this.parts, this.kept());
  }

  kept(): PendingRotation {
    const rotation = this.pending.of(this.account.baseUrl);
    assert.ok(rotation !== undefined, 'a rotation is pending');
    return rotation;
  }

  async storedKey(): Promise<string> {
    return (await this.accounts.key(this.account)) ?? '';
  }

  async storedKeyWorks(): Promise<boolean> {
    const client = await this.openClient(
      { baseUrl: this.#service.baseUrl, name: '' },
      await this.storedKey(),
    );
    return (await client.projectPages().next()).done === false;
  }

  /** This test's keys that are still valid. */
  async existing(): Promise<ExistingKey[]> {
    const { items } = await this.#service.client.listApiKeys();
    return items
      .filter(({ id, name }) => id >= this.oldKey.id && name.startsWith('laptop'))
      .map(({ id, name }) => ({ id, name }))
      .toSorted((a, b) => a.id - b.id);
  }
}
