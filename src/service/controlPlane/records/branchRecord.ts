/** The rules for branches, as the public service documents them. Pure functions. */
import { MAX_NAME_LENGTH } from '../../../api/rules/nameLength.ts';
import { NAME_TAKEN } from '../../../api/transport/errors.ts';
import { toTimestamp } from '../../core/serviceClock.ts';
import { conflict, notFound, unprocessable } from '../../core/serviceErrors.ts';
import { lockedError, unfinishedOperations } from './operationRecord.ts';
import type { ProjectState } from '../../state/accountState.ts';
import {
  CREATION_SOURCE,
  type BranchRecord,
  type StoredCompute,
  type StoredOperation,
} from '../../state/storedRecords.ts';

type BranchBasics = Pick<BranchRecord, 'id' | 'project_id' | 'parent_id' | 'name' | 'default'>;

/** Returns the record of a branch whose data exists. */
export const readyBranch = (basics: BranchBasics, createdAt: string): BranchRecord => ({
  ...basics,
  current_state: 'ready',
  state_changed_at: createdAt,
  creation_source: CREATION_SOURCE,
  protected: false,
  cpu_used_sec: 0,
  compute_time_seconds: 0,
  active_time_seconds: 0,
  written_data_bytes: 0,
  data_transfer_bytes: 0,
  created_at: createdAt,
  updated_at: createdAt,
});

/** Returns the record of a branch whose data does not exist yet. */
export const newBranch = (basics: BranchBasics, now: number): BranchRecord => ({
  ...readyBranch(basics, toTimestamp(now)),
  current_state: 'init',
  pending_state: 'ready',
});

/** @throws {HttpError} 404 */
export function findBranch(project: ProjectState, id: string): BranchRecord {
  const branch = project.branches.get(id);
  if (branch === undefined) throw notFound(`branch in project ${project.record.id} with the id`, id);
  return branch;
}

/** @throws {HttpError} 404 for a project of a `--projects` file without branches */
export function findDefaultBranch(project: ProjectState): BranchRecord {
  const found = [...project.branches.values()].find((branch) => branch.default);
  if (found === undefined) throw notFound('default branch in project', project.record.id);
  return found;
}

export const computesOf = (project: ProjectState, branchId: string): readonly StoredCompute[] =>
  [...project.computes.values()].filter(({ record }) => record.branch_id === branchId);

export const primaryOf = (project: ProjectState, branchId: string): StoredCompute | undefined =>
  computesOf(project, branchId).find(({ record }) => record.type === 'read_write');

/** @throws {HttpError} 404 for a branch without a primary */
export function requirePrimary(project: ProjectState, branchId: string): StoredCompute {
  const primary = primaryOf(project, branchId);
  if (primary === undefined) throw notFound('primary read-write compute on branch', branchId);
  return primary;
}

/**
 * Whether an operation affects the branch: it runs on the branch or one of its computes, moves a compute to or from it,
 * restores another branch from it, preserves another branch's data in it, or replaces it or needs
 * its passwords.
 */
function affectsBranch({ step, record }: StoredOperation, branchId: string): boolean {
  if (record.branch_id === branchId) return true;
  if (step.kind === 'apply') return step.before.branch_id === branchId;
  if (step.kind === 'finalizeBranch') return step.targetId === branchId;
  if (step.kind === 'createBranch') return step.passwordsOf === branchId;
  return step.kind === 'restoreBranch' && [step.sourceId, step.preservedId].includes(branchId);
}

/** @throws {HttpError} 423 while an operation runs on the branch or its computes */
export function requireFreeBranch(project: ProjectState, { id }: BranchRecord): void {
  const busy = unfinishedOperations(project).find((operation) => affectsBranch(operation, id));
  if (busy !== undefined) throw lockedError(busy);
}

/** @throws {HttpError} 423 while the branch is being created or restored, because its data isn't complete */
export function requireReadyBranch(project: ProjectState, branch: BranchRecord): void {
  if (branch.current_state !== 'ready') requireFreeBranch(project, branch);
}

/** Returns the branch whose data is being copied to a new branch; undefined for any other branch. */
export function sourceOfCopy(project: ProjectState, { id }: BranchRecord): BranchRecord | undefined {
  for (const { step, record } of unfinishedOperations(project))
    if (step.kind === 'createBranch' && record.branch_id === id)
      return project.branches.get(step.parentId ?? '');
  return undefined;
}

/** Returns the unfinished operation that copies the data of the branch or snapshot. */
export const unfinishedCopyFrom = (project: ProjectState, id: string): StoredOperation | undefined =>
  unfinishedOperations(project).find(
    ({ step, record }) =>
      (step.kind === 'createBranch' && step.parentId === id) ||
      (step.kind === 'restoreBranch' && step.sourceId === id) ||
      (step.kind === 'createSnapshot' && record.branch_id === id),
  );

/** @throws {HttpError} 423 while the data of the branch or snapshot is being copied */
export function requireNotCopied(project: ProjectState, id: string): void {
  const copy = unfinishedCopyFrom(project, id);
  if (copy !== undefined) throw lockedError(copy);
}

export const childrenOf = (project: ProjectState, id: string): readonly BranchRecord[] =>
  [...project.branches.values()].filter((branch) => branch.parent_id === id);

/** Whether the other branch is the branch itself, or a copy of it or of such a copy. */
export function isSameOrAncestorOf(
  { branches }: ProjectState,
  { id }: BranchRecord,
  other: string | undefined,
): boolean {
  const line = new Set<string>();
  for (let at = other; at !== undefined && !line.has(at); at = branches.get(at)?.parent_id) line.add(at);
  return line.has(id);
}

/** @param exceptId the branch that is renamed @throws {HttpError} 409 if another branch has the name */
export function requireFreeBranchName(project: ProjectState, name: string, exceptId?: string): void {
  for (const branch of project.branches.values())
    if (branch.name === name && branch.id !== exceptId)
      throw conflict(
        `A branch with the name ${JSON.stringify(name.slice(0, 80))} already exists: ${branch.id}.`,
        NAME_TAKEN,
      );
}

/** Appends an ending to a name. Shortens the name if the result would be too long, without splitting a character. */
export const appendToName = (name: string, ending: string): string =>
  name.slice(0, MAX_NAME_LENGTH - ending.length).replace(/[\ud800-\udbff]$/, '') + ending;

/** Returns the name with the ending, and with a number if another branch of the project has that name. */
export function uniqueName({ branches }: ProjectState, name: string, ending = ''): string {
  const taken = new Set([...branches.values()].map((branch) => branch.name));
  for (let number = 1; ; number += 1) {
    const unique = appendToName(name, number === 1 ? ending : `${ending} ${number}`);
    if (!taken.has(unique)) return unique;
  }
}

/** @throws {HttpError} 422 */
export function requireDeletable(project: ProjectState, branch: BranchRecord): void {
  const { id } = branch;
  if (branch.default)
    throw unprocessable(`Branch ${id} is the default branch. Set another one as default first.`);
  const { parent_id, init_source, restored_as, restored_from } = branch;
  if ([parent_id, init_source, restored_as, restored_from].every((origin) => origin === undefined))
    throw unprocessable(`Branch ${id} is the root branch of its project. Delete the project instead.`);
  if (branch.protected) throw unprocessable(`Branch ${id} is protected. Remove the protection first.`);
  const [child] = childrenOf(project, id);
  if (child !== undefined)
    throw unprocessable(`Branch ${id} has child branches, such as ${child.id}. Delete them first.`);
}

/** @throws {HttpError} 422 if the branch expires: while it has a child, it couldn't be deleted */
export function requireMayHaveChildren({ id, expires_at }: BranchRecord): void {
  if (expires_at !== undefined)
    throw unprocessable(`Branch ${id} expires, so it cannot have child branches.`);
}

/**
 * Whether the source is the branch itself or was preserved when the branch was restored. Then it doesn't become the parent:
 * the branch goes back to what it was, and the source can be deleted.
 */
export const isOwnEarlierData = ({ id }: BranchRecord, source: BranchRecord | undefined): boolean =>
  source?.id === id || source?.restored_as === id;

/** The default branch, protected branches and branches with children can't be deleted, so they can't expire. @throws {HttpError} 422 */
export function requireExpiryAllowed(project: ProjectState, branch: BranchRecord): void {
  if (branch.expires_at === undefined) return;
  const reason = branch.default
    ? 'is the default branch'
    : branch.protected
      ? 'is protected'
      : childrenOf(project, branch.id).length > 0
        ? 'has child branches'
        : undefined;
  if (reason !== undefined)
    throw unprocessable(`expires_at: branch ${branch.id} ${reason}, so it cannot expire.`);
}

/** The longest time until a branch expires, in seconds. */
const MAX_TIME_TO_LIVE = 30 * 24 * 60 * 60;

/** @param expiresAt null for a branch that never expires @throws {HttpError} 422 */
export function withExpiry(branch: BranchRecord, expiresAt: string | null, now: number): BranchRecord {
  if (expiresAt === null) return { ...branch, expires_at: undefined, ttl_interval_seconds: undefined };
  const at = Date.parse(expiresAt);
  const seconds = Math.round((at - now) / 1000);
  if (at <= now || seconds > MAX_TIME_TO_LIVE)
    throw unprocessable('expires_at: must be in the next 30 days.');
  return { ...branch, expires_at: toTimestamp(at), ttl_interval_seconds: seconds };
}
