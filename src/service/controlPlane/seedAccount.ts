/** Checks the description of a new account (the sample or `--projects FILE`) and turns it into changes. */
import type { ComputeCreation } from '../../api/records/requests.ts';
import type { Plan } from '../../api/records/sizes.ts';
import { hashOfKey, newKeyValue } from './apiKeys.ts';
import { toTimestamp, type ServiceClock } from '../core/clock.ts';
import type { ComputeEngine } from '../core/computeEngine.ts';
import {
  newCompute,
  requireNoPrimary,
  requireProvisioner,
  requireRegion,
  requireValidSize,
  sizeOfNew,
  withState,
} from './computeRecord.ts';
import { projectRecord } from './branches/projectRecord.ts';
import { freeAddress } from './computes.ts';
import { generateId } from './generateId.ts';
import { computeTarget, newOperation } from './operationRecord.ts';
import { conflict, HttpError } from '../core/errors.ts';
import { sampleAccount } from '../state/sampleAccount.ts';
import type {
  AccountDescription,
  BranchDescription,
  ComputeDescription,
  ProjectDescription,
  ProjectsFile,
} from '../state/projectsFile.ts';
import { AccountState, type ProjectState } from '../state/store.ts';
import { readyBranch, type Change } from '../state/storedRecords.ts';

export interface SeedOptions {
  /** Undefined: the sample account. */
  readonly projects: ProjectsFile | undefined;
  readonly engine: Promise<ComputeEngine>;
  readonly clock: ServiceClock;
  readonly plan: Plan;
  /** False with `--no-postgres`, where a compute can be active without a process. */
  readonly runsPostgres: boolean;
}

/** The file cannot be read or breaks a rule. */
export class InvalidProjectsFile extends Error {
  override readonly name = 'InvalidProjectsFile';
}

/** @throws {InvalidProjectsFile} */
export async function seedAccount(options: SeedOptions): Promise<Iterable<Change>> {
  const { projects } = options;
  if (projects === undefined)
    return new SeedBuilder(options, await options.engine).run(sampleAccount(options.plan));
  const { file, content } = projects;
  const fail = (problem: string) => new InvalidProjectsFile(`Cannot use ${file}: ${problem}`);
  if ('problem' in content) throw fail(content.problem);
  return new SeedBuilder(options, await options.engine).run(content).catch((error: unknown) => {
    throw error instanceof HttpError ? fail(error.message) : error;
  });
}

class SeedBuilder {
  readonly #options: SeedOptions;
  readonly #engine: ComputeEngine;
  readonly #account = new AccountState();
  readonly #branchIds = new Set<string>();
  readonly #now: number;

  constructor(options: SeedOptions, engine: ComputeEngine) {
    this.#options = options;
    this.#engine = engine;
    this.#now = options.clock.now();
  }

  async run(description: AccountDescription): Promise<Iterable<Change>> {
    for (const project of description.projects) await this.#project(project);
    for (const { name } of description.api_keys ?? []) this.#key(name);
    return this.#account.snapshot();
  }

  async #project(description: ProjectDescription): Promise<void> {
    if (this.#account.projects.has(description.id)) throw conflict(`two projects ${description.id}`);
    const value = projectRecord(description, this.#engine.pgVersion, this.#now);
    this.#account.apply({ set: 'project', value });
    const project = this.#account.projects.get(description.id);
    const branches = description.branches ?? [];
    const [main = branches[0], second] = branches.filter((branch) => branch.default === true);
    if (second !== undefined) throw conflict(`two default branches in project ${description.id}`);
    for (const branch of branches) {
      if (project !== undefined) await this.#branch(project, branch, main);
    }
  }

  /** Every branch is a child of the default branch. Its data begins as a separate empty database. */
  async #branch(
    project: ProjectState,
    description: BranchDescription,
    main: BranchDescription | undefined,
  ): Promise<void> {
    // Even in different projects: the data of a branch is stored under its id.
    if (this.#branchIds.has(description.id)) throw conflict(`two branches ${description.id}`);
    this.#branchIds.add(description.id);
    const { created_at, updated_at, id: project_id } = project.record;
    const isDefault = main === description;
    const value = readyBranch({
      id: description.id,
      project_id,
      name: description.name ?? description.id,
      ...(main === undefined || isDefault ? {} : { parent_id: main.id }),
      default: isDefault,
      created_at,
      updated_at,
    });
    this.#account.apply({ set: 'branch', value });
    for (const compute of description.computes ?? []) await this.#compute(project, description.id, compute);
  }

  async #compute(project: ProjectState, branch_id: string, description: ComputeDescription): Promise<void> {
    const { id: chosenId, current_state, ...rest } = description;
    const id = chosenId ?? generateId('ep-', (taken) => this.#account.compute(taken) !== undefined);
    if (this.#account.compute(id) !== undefined) throw conflict(`two computes ${id}`);
    const creation = { ...rest, branch_id };
    this.#requireCreatable(project, creation, chosenId === undefined ? 'a compute' : `compute ${chosenId}`);
    const { pooledSessions, postgresProblem } = this.#engine;
    const address = await freeAddress(this.#engine, this.#account);
    const compute = newCompute({
      id,
      project: project.record,
      creation,
      address,
      pooledSessions,
      now: this.#now,
    });
    const idle = {
      ...compute,
      record: withState(compute.record, { current: 'idle', pending: undefined }, this.#now),
    };
    if (current_state !== 'active' || creation.disabled === true || postgresProblem !== undefined) {
      this.#account.apply({ set: 'compute', value: idle });
    } else if (this.#options.runsPostgres) {
      const record = withState(idle.record, { pending: 'active' }, this.#now);
      this.#account.apply({ set: 'compute', value: { ...idle, record } });
      const sequence = this.#account.nextSequence();
      const start = {
        target: computeTarget(record),
        step: { kind: 'start' },
        status: 'scheduling',
        sequence,
        now: this.#now,
      } as const;
      this.#account.apply({ set: 'operation', value: newOperation(start) });
    } else {
      const state = { current: 'active', pending: undefined, lastActive: this.#now } as const;
      const record = withState(idle.record, state, this.#now);
      this.#account.apply({ set: 'compute', value: { ...idle, record, uncountedSince: this.#now } });
    }
  }

  /** Adds to the message of a rule which compute of the file breaks it. */
  #requireCreatable(project: ProjectState, creation: ComputeCreation, which: string): void {
    try {
      requireRegion(project.record, creation.region_id);
      requireProvisioner(project.record, creation.provisioner);
      requireValidSize(sizeOfNew(creation), this.#options.plan);
      if (creation.type === 'read_write') requireNoPrimary(project, creation.branch_id);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const { status, code, message } = error;
      throw new HttpError(status, code, `${which} of branch ${creation.branch_id}: ${message}`);
    }
  }

  /** Adds a key with an unknown value, so that the list is not empty. */
  #key(name: string): void {
    const value = {
      id: this.#account.nextKeyId(),
      name,
      hash: hashOfKey(newKeyValue()),
      created_at: toTimestamp(this.#now),
      last_used_at: null,
      last_used_from_addr: '',
    };
    this.#account.apply({ set: 'key', value });
  }
}
