/** Checks the description of a new account (the sample or `--projects FILE`) and turns it into records. */
import type { ComputeCreation } from '../../api/records/requests.ts';
import type { Plan } from '../../api/rules/sizes.ts';
import type { Clock } from '../../base/clock.ts';
import type { ComputeEngine } from '../core/computeEngine.ts';
import { conflict, HttpError, StartError } from '../core/serviceErrors.ts';
import {
  type BranchDescription,
  type ComputeDescription,
  type ProjectDescription,
  type ProjectsFile,
  SAMPLE_DATA,
  sampleAccount,
} from '../state/projectsFile.ts';
import { AccountState, type ProjectState } from '../state/accountState.ts';
import { newStoredKey, newKeyValue } from './apiKeys.ts';
import { readyBranch } from './records/branchRecord.ts';
import { projectRecord } from './branches/projects.ts';
import {
  newCompute,
  requireNoPrimary,
  requireValidCreation,
  withComputeState,
} from './records/computeRecord.ts';
import { allocateForCompute, newComputeId } from './computes/computes.ts';
import { newOperation, newStartTask } from './records/operationRecord.ts';

interface SeedDependencies {
  /** Undefined for the sample account. */
  readonly projects: ProjectsFile | undefined;
  readonly engine: Promise<ComputeEngine>;
  readonly clock: Clock;
  readonly plan: Plan;
  /** False with `--no-postgres`, where a compute can be active without a process. */
  readonly runsPostgres: boolean;
}

/** The account that is being made, and what its records need. */
interface Seed extends Pick<SeedDependencies, 'plan' | 'runsPostgres'> {
  readonly account: AccountState;
  readonly engine: ComputeEngine;
  readonly now: number;
}

/** Creates an account. @throws {StartError} `projectsFile` if the file cannot be read or breaks a rule */
export async function seedAccount(deps: SeedDependencies): Promise<AccountState> {
  const { projects, plan } = deps;
  const projectsFileError = (problem: string) =>
    new StartError('projectsFile', `Cannot use ${projects?.file}: ${problem}`);
  const description = projects?.content ?? sampleAccount(plan);
  if ('problem' in description) throw projectsFileError(description.problem);
  const [account, now] = [new AccountState(), deps.clock.now()];
  const seed = { ...deps, engine: await deps.engine, account, now };
  try {
    for (const project of description.projects) await addProject(seed, project);
  } catch (error) {
    throw error instanceof HttpError ? projectsFileError(error.message) : error;
  }
  if (projects === undefined) seed.engine.setSampleData(SAMPLE_DATA);
  for (const { name } of description.api_keys ?? [])
    // The value is returned to no caller: the key is only an entry in the list.
    account.apply({ set: 'key', value: newStoredKey(account.nextKeyId(), name, newKeyValue(), now) });
  return account;
}

async function addProject(seed: Seed, description: ProjectDescription): Promise<void> {
  const { account, engine, now } = seed;
  const { id, branches = [] } = description;
  if (account.projects.has(id)) throw conflict(`two projects ${id}`);
  // Lists are sorted by the time of creation. With increasing times, they keep the order of the file.
  const created = now + account.projects.size;
  account.apply({ set: 'project', value: projectRecord(description, engine.pgVersion, created) });
  const [main = branches[0], second] = branches.filter((branch) => branch.default === true);
  if (second !== undefined) throw conflict(`two default branches in project ${id}`);
  for (const branch of branches) await addBranch(seed, account.project(id), branch, main);
}

/** Adds a branch, whose data begins as a separate empty database. @param main the default branch, which is the parent of all others */
async function addBranch(
  seed: Seed,
  project: ProjectState,
  { id, name = id, computes = [] }: BranchDescription,
  main: BranchDescription | undefined,
): Promise<void> {
  // Ids differ even between projects, because the data of a branch is stored under its id.
  if (seed.account.projectOfBranch(id) !== undefined) throw conflict(`two branches ${id}`);
  const isDefault = main?.id === id;
  const parent_id = isDefault ? undefined : main?.id;
  const basics = { id, project_id: project.record.id, name, parent_id, default: isDefault };
  seed.account.apply({ set: 'branch', value: readyBranch(basics, project.record.created_at) });
  for (const compute of computes) await addCompute(seed, project, id, compute);
}

async function addCompute(
  { account, engine, plan, now, runsPostgres }: Seed,
  project: ProjectState,
  branch_id: string,
  { id: chosenId, current_state, ...rest }: ComputeDescription,
): Promise<void> {
  const id = chosenId ?? newComputeId(account);
  if (account.compute(id) !== undefined) throw conflict(`two computes ${id}`);
  const creation = { ...rest, branch_id };
  requireCreatable(project, creation, plan, chosenId === undefined ? 'a compute' : `compute ${chosenId}`);
  const compute = newCompute(id, project.record, creation, await allocateForCompute(engine, account), now);
  const isActive =
    current_state === 'active' && creation.disabled !== true && engine.postgresProblem === undefined;
  const idle = { current: 'idle', pending: undefined } as const;
  const starting = { current: 'idle', pending: 'active' } as const;
  const simulated = { current: 'active', pending: undefined, lastActive: now } as const;
  const state = !isActive ? idle : runsPostgres ? starting : simulated;
  const value = { ...compute, record: withComputeState(compute.record, state, now) };
  account.apply({ set: 'compute', value });
  if (state === starting)
    account.apply({ set: 'operation', value: newOperation(newStartTask(value), 'scheduling', now) });
}

/** @param name the name of the compute, for the message @throws {HttpError} if it breaks a rule */
function requireCreatable(project: ProjectState, creation: ComputeCreation, plan: Plan, name: string): void {
  try {
    requireValidCreation(project.record, creation, plan);
    if (creation.type === 'read_write') requireNoPrimary(project, creation.branch_id);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw conflict(`${name} of branch ${creation.branch_id}: ${error.message}`);
  }
}
