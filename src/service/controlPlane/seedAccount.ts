/** Checks the description of a new account (the sample or `--projects FILE`) and turns it into records. */
import type { ComputeCreation } from '../../api/records/requests.ts';
import type { Plan } from '../../api/records/sizes.ts';
import type { ServiceClock } from '../core/clock.ts';
import type { ComputeEngine } from '../core/computeEngine.ts';
import { conflict, HttpError, StartError } from '../core/errors.ts';
import {
  type AccountDescription,
  type BranchDescription,
  type ComputeDescription,
  type ProjectDescription,
  type ProjectsFile,
  sampleAccount,
} from '../state/projectsFile.ts';
import { AccountState, type ProjectState } from '../state/store.ts';
import type { Mutation } from '../state/storedRecords.ts';
import { newKey, newKeyValue } from './apiKeys.ts';
import { readyBranch } from './branches/branchRecord.ts';
import { projectRecord } from './branches/projects.ts';
import { newCompute, requireNoPrimary, requireValid, withState } from './computeRecord.ts';
import { allocate } from './computes.ts';
import { generateId } from './generateId.ts';
import { newOperation, startTask } from './operationRecord.ts';

interface SeedDependencies {
  /** Undefined: the sample account. */
  readonly projects: ProjectsFile | undefined;
  readonly engine: Promise<ComputeEngine>;
  readonly clock: ServiceClock;
  readonly plan: Plan;
  /** False with `--no-postgres`, where a compute can be active without a process. */
  readonly runsPostgres: boolean;
}

/** @throws {StartError} `projectsFile` if the file cannot be read or breaks a rule */
export async function seedAccount(deps: SeedDependencies): Promise<Iterable<Mutation>> {
  const { projects, plan } = deps;
  const fail = (problem: string) =>
    new StartError('projectsFile', `Cannot use ${projects?.file}: ${problem}`);
  const description = projects?.content ?? sampleAccount(plan);
  if ('problem' in description) throw fail(description.problem);
  const builder = new SeedBuilder(deps, await deps.engine);
  return builder.build(description).catch((error: unknown) => {
    throw error instanceof HttpError ? fail(error.message) : error;
  });
}

class SeedBuilder {
  readonly #deps: SeedDependencies;
  readonly #engine: ComputeEngine;
  readonly #account = new AccountState();
  readonly #now: number;

  constructor(deps: SeedDependencies, engine: ComputeEngine) {
    this.#deps = deps;
    this.#engine = engine;
    this.#now = deps.clock.now();
  }

  async build({ projects, api_keys = [] }: AccountDescription): Promise<Iterable<Mutation>> {
    for (const project of projects) await this.#addProject(project);
    for (const { name } of api_keys) {
      // No one learns the value: the key only fills the list.
      const value = newKey(this.#account.nextKeyId(), name, newKeyValue(), this.#now);
      this.#account.apply({ set: 'key', value });
    }
    return this.#account.snapshot();
  }

  async #addProject(description: ProjectDescription): Promise<void> {
    const { id, branches = [] } = description;
    if (this.#account.projects.has(id)) throw conflict(`two projects ${id}`);
    const value = projectRecord(description, this.#engine.pgVersion, this.#now);
    this.#account.apply({ set: 'project', value });
    const [main = branches[0], second] = branches.filter((branch) => branch.default === true);
    if (second !== undefined) throw conflict(`two default branches in project ${id}`);
    for (const branch of branches) await this.#addBranch(this.#account.project(id), branch, main);
  }

  /** Every branch is a child of the default branch. Its data begins as a separate empty database. */
  async #addBranch(
    project: ProjectState,
    { id, name = id, computes = [] }: BranchDescription,
    main: BranchDescription | undefined,
  ): Promise<void> {
    // Even in different projects: the data of a branch is stored under its id.
    if (this.#account.projectOfBranch(id) !== undefined) throw conflict(`two branches ${id}`);
    const isDefault = main?.id === id;
    const parent = main === undefined || isDefault ? {} : { parent_id: main.id };
    const basics = { id, project_id: project.record.id, name, ...parent, default: isDefault };
    this.#account.apply({ set: 'branch', value: readyBranch(basics, project.record.created_at) });
    for (const compute of computes) await this.#addCompute(project, id, compute);
  }

  async #addCompute(
    project: ProjectState,
    branch_id: string,
    description: ComputeDescription,
  ): Promise<void> {
    const { id: chosenId, current_state, ...rest } = description;
    const id = chosenId ?? generateId('ep-', (taken) => this.#account.compute(taken) !== undefined);
    if (this.#account.compute(id) !== undefined) throw conflict(`two computes ${id}`);
    const creation = { ...rest, branch_id };
    this.#requireCreatable(project, creation, chosenId === undefined ? 'a compute' : `compute ${chosenId}`);
    const allocation = await allocate(this.#engine, this.#account);
    const compute = newCompute(id, project.record, creation, allocation, this.#now);
    const isActive =
      current_state === 'active' && creation.disabled !== true && this.#engine.postgresProblem === undefined;
    const idle = { current: 'idle', pending: undefined } as const;
    const starting = { current: 'idle', pending: 'active' } as const;
    const simulated = { current: 'active', pending: undefined, lastActive: this.#now } as const;
    const { runsPostgres } = this.#deps;
    const state = !isActive ? idle : runsPostgres ? starting : simulated;
    const value = { ...compute, record: withState(compute.record, state, this.#now) };
    this.#account.apply({ set: 'compute', value });
    if (state !== starting) return;
    const operation = newOperation(startTask(value), 'scheduling', this.#now);
    this.#account.apply({ set: 'operation', value: operation });
  }

  /** Names the compute that breaks a rule in the error message. */
  #requireCreatable(project: ProjectState, creation: ComputeCreation, name: string): void {
    try {
      requireValid(project.record, creation, this.#deps.plan);
      if (creation.type === 'read_write') requireNoPrimary(project, creation.branch_id);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw conflict(`${name} of branch ${creation.branch_id}: ${error.message}`);
    }
  }
}
