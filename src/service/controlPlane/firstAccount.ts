/** Turns a described account (the sample, or `--projects FILE`) into the changes that make it, after checking its rules. */
import { readFile } from 'node:fs/promises';
import type { Plan } from '../../api/sizes.ts';
import { Account, type ProjectState } from '../state/account.ts';
import { hashOfKey, newKeyValue } from './apiKeys.ts';
import { timestamp, type Clock } from '../clock.ts';
import { freeAddress } from './addresses.ts';
import type { ComputeEngine } from '../computeEngine.ts';
import { inState, newCompute, sizeOfNew } from './computeRecord.ts';
import { requireNoPrimary, requireRegion, requireSize } from './computeRules.ts';
import { newId } from './names.ts';
import { newOperation } from './operationRecord.ts';
import { Refusal } from './refusal.ts';
import { SAMPLE_ACCOUNT } from '../state/sampleAccount.ts';
import { StartFailure, systemReason } from '../startFailure.ts';
import type {
  AccountDescription,
  BranchDescription,
  ComputeDescription,
  ProjectDescription,
} from '../state/projectsFile.ts';
import type { BranchRecord, Change, ProjectRecord } from '../state/storedRecords.ts';

export interface FirstAccountOptions {
  /** Undefined: the sample account. */
  readonly projectsFile: string | undefined;
  readonly engine: ComputeEngine;
  readonly clock: Clock;
  readonly plan: Plan;
  /** Whether something has to be started behind a compute before it is active. */
  readonly hasProcesses: boolean;
}

/** @throws {StartFailure} when the file cannot be read or breaks a rule */
export async function firstAccount(options: FirstAccountOptions): Promise<Iterable<Change>> {
  const { projectsFile } = options;
  if (projectsFile === undefined) return new Seeding(options).run(SAMPLE_ACCOUNT);
  const fail = (problem: string) =>
    new StartFailure('projectsFile', `Cannot use ${projectsFile}: ${problem}`);
  const text = await readFile(projectsFile, 'utf8').catch((error: unknown) => {
    throw fail(systemReason(error));
  });
  const { parseAccount } = await import('../state/projectsFile.ts');
  const description = parseAccount(text);
  if ('problem' in description) throw fail(description.problem);
  return new Seeding(options).run(description).catch((error: unknown) => {
    throw error instanceof Refusal ? fail(error.message) : error;
  });
}

class Seeding {
  readonly #options: FirstAccountOptions;
  readonly #account = new Account();
  readonly #now: number;

  constructor(options: FirstAccountOptions) {
    this.#options = options;
    this.#now = options.clock.now();
  }

  async run(description: AccountDescription): Promise<Iterable<Change>> {
    for (const project of description.projects) await this.#project(project);
    for (const { name } of description.api_keys ?? []) this.#key(name);
    return this.#account.snapshot();
  }

  async #project(description: ProjectDescription): Promise<void> {
    if (this.#account.projects.has(description.id))
      throw new Refusal(409, '', `two projects ${description.id}`);
    this.#account.apply({ set: 'project', value: projectRecord(description, this.#now) });
    const project = this.#account.projects.get(description.id);
    const branches = description.branches ?? [];
    const fallback = branches.some((branch) => branch.default === true) ? undefined : branches[0];
    for (const branch of branches) {
      if (project !== undefined) await this.#branch(project, branch, branch.default ?? branch === fallback);
    }
  }

  async #branch(project: ProjectState, description: BranchDescription, isDefault: boolean): Promise<void> {
    if (project.branches.has(description.id)) throw new Refusal(409, '', `two branches ${description.id}`);
    const { created_at, updated_at, id: project_id } = project.record;
    const value: BranchRecord = {
      id: description.id,
      project_id,
      name: description.name ?? description.id,
      default: isDefault,
      current_state: 'ready',
      created_at,
      updated_at,
    };
    this.#account.apply({ set: 'branch', value });
    for (const compute of description.computes ?? []) await this.#compute(project, description.id, compute);
  }

  async #compute(project: ProjectState, branch_id: string, description: ComputeDescription): Promise<void> {
    const {
      id = newId('ep-', (taken) => this.#account.compute(taken) !== undefined),
      current_state,
      ...rest
    } = description;
    if (this.#account.compute(id) !== undefined) throw new Refusal(409, '', `two computes ${id}`);
    const wanted = { ...rest, branch_id };
    requireRegion(project, wanted.region_id);
    requireSize(sizeOfNew(wanted), this.#options.plan);
    if (wanted.type === 'read_write') requireNoPrimary(project, branch_id);
    const address = await freeAddress(this.#options.engine, this.#account);
    const compute = newCompute({ id, project: project.record, wanted, address, now: this.#now });
    const idle = {
      ...compute,
      record: inState(compute.record, { current: 'idle', pending: undefined }, this.#now),
    };
    if (current_state !== 'active' || wanted.disabled === true) {
      this.#account.apply({ set: 'compute', value: idle });
    } else if (this.#options.hasProcesses) {
      const record = inState(idle.record, { pending: 'active' }, this.#now);
      this.#account.apply({ set: 'compute', value: { ...idle, record } });
      const sequence = this.#account.nextSequence();
      const start = {
        compute: record,
        step: { kind: 'start' },
        status: 'scheduling',
        sequence,
        now: this.#now,
      } as const;
      this.#account.apply({ set: 'operation', value: newOperation(start) });
    } else {
      const state = { current: 'active', pending: undefined, lastActive: this.#now } as const;
      const record = inState(idle.record, state, this.#now);
      this.#account.apply({ set: 'compute', value: { ...idle, record, uncountedSince: this.#now } });
    }
  }

  /** A key whose value is known to nobody, so that the list has something to show. */
  #key(name: string): void {
    const value = {
      id: this.#account.nextKeyId(),
      name,
      hash: hashOfKey(newKeyValue()),
      created_at: timestamp(this.#now),
      last_used_at: null,
      last_used_from_addr: '',
    };
    this.#account.apply({ set: 'key', value });
  }
}

const projectRecord = (description: ProjectDescription, now: number): ProjectRecord => ({
  id: description.id,
  name: description.name,
  platform_id: description.platform_id ?? 'local',
  region_id: description.region_id ?? 'local',
  provisioner: description.provisioner ?? 'local',
  pg_version: description.pg_version ?? 18,
  cpu_used_sec: description.cpu_used_sec ?? 0,
  locked: false,
  branch_logical_size_limit: description.branch_logical_size_limit ?? 204_800,
  proxy_host: '127.0.0.1',
  created_at: description.created_at ?? timestamp(now),
  updated_at: description.created_at ?? timestamp(now),
});
