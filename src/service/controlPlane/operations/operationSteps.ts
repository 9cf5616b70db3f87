/** What each step of an operation does with the engine, and how its success or failure changes the account. */
import { toTimestamp } from '../../core/serviceClock.ts';
import type { ComputeEngine } from '../../core/computeEngine.ts';
import type { AccountState, ProjectState } from '../../state/accountState.ts';
import {
  isBranchStep,
  isSnapshotStep,
  type BranchRecord,
  type BranchStep,
  type ComputeRecord,
  type ComputeStep,
  type Mutation,
  type SnapshotStep,
  type StoredOperation,
} from '../../state/storedRecords.ts';
import { childrenOf, computesOf, isOwnEarlierData } from '../records/branchRecord.ts';
import { computeSpec, withComputeState } from '../records/computeRecord.ts';
import { computeMutations } from '../records/countUsage.ts';
import { finalizationMutations, endPendingMutations } from './finalizeRestore.ts';

/** @returns the position (LSN) in its parent's log up to which a new branch has its data, if that is known */
export async function performStep(
  { step, record }: StoredOperation,
  engine: ComputeEngine,
  project: ProjectState,
): Promise<string | undefined> {
  if (isBranchStep(step)) return performOnBranch(step, engine, project, record.branch_id);
  await (isSnapshotStep(step)
    ? performOnSnapshot(step, engine, record.branch_id)
    : performOnCompute(step, record, engine, project));
  return undefined;
}

async function performOnCompute(
  step: ComputeStep,
  record: StoredOperation['record'],
  engine: ComputeEngine,
  project: ProjectState,
): Promise<void> {
  const { endpoint_id: id = '' } = record;
  const compute = project.computes.get(id);
  // A deleted compute only needs to be removed.
  if (step.kind === 'remove' || compute === undefined) return engine.remove(id);
  const spec = computeSpec(compute);
  switch (step.kind) {
    case 'attach':
    case 'check':
    case 'sql':
      return engine.attach(spec);
    case 'start':
      await engine.attach(spec);
      return engine.start(spec);
    case 'suspend':
      return engine.suspend(id);
    case 'apply':
      await engine.attach(computeSpec({ ...compute, record: step.before }));
      return engine.applyConfig(spec);
  }
}

async function performOnBranch(
  step: BranchStep,
  engine: ComputeEngine,
  project: ProjectState,
  id: string,
): Promise<string | undefined> {
  switch (step.kind) {
    case 'createBranch':
      try {
        return await engine.createBranch({ ...step, id });
      } catch (error) {
        // The addresses of its computes are already open, so they are closed again.
        for (const { record } of computesOf(project, id)) await engine.remove(record.id);
        throw error;
      }
    case 'restoreBranch':
      await engine.restoreBranch({ ...step, id });
      return undefined;
    case 'finalizeBranch':
      return undefined;
    case 'deleteBranch':
      await engine.deleteBranch(id);
      return undefined;
  }
}

/** Creates or deletes a snapshot, which for the engine is a branch without computes and history. */
async function performOnSnapshot(step: SnapshotStep, engine: ComputeEngine, parentId: string): Promise<void> {
  const { snapshotId: id } = step;
  await (step.kind === 'createSnapshot'
    ? engine.createBranch({ id, parentId, moment: step.moment })
    : engine.deleteBranch(id));
}

function targetRecords(record: StoredOperation['record'], account: AccountState) {
  const project = account.project(record.project_id);
  const branch = project.branches.get(record.branch_id);
  const compute = project.computes.get(record.endpoint_id ?? '');
  return { project, branch, compute };
}

interface Success {
  /** Whether no step follows, so that nothing is pending any more. */
  readonly isLast: boolean;
  readonly now: number;
  /** What {@link performStep} has returned. */
  readonly parentLsn: string | undefined;
}

/** Returns the mutations after a step has succeeded. */
export function successMutations(
  { step, record }: StoredOperation,
  account: AccountState,
  { isLast, now, parentLsn }: Success,
): readonly Mutation[] {
  const { project, branch, compute } = targetRecords(record, account);
  if (isBranchStep(step)) {
    if (branch === undefined) return [];
    // A snapshot isn't the parent of the branch that gets its data.
    const isChild = step.kind === 'createBranch' && step.parentId === branch.parent_id;
    const known = isChild && parentLsn !== undefined ? { ...branch, parent_lsn: parentLsn } : branch;
    return branchStepMutations(step, project, known, now);
  }
  if (isSnapshotStep(step)) return [];
  return compute === undefined
    ? []
    : computeMutations(account, compute, afterComputeStep(step, compute.record, isLast, now), now);
}

function afterComputeStep(
  step: ComputeStep,
  record: ComputeRecord,
  isLast: boolean,
  now: number,
): ComputeRecord {
  const pending = isLast ? undefined : record.pending_state;
  switch (step.kind) {
    case 'start':
      return withComputeState(record, { current: 'active', pending, lastActive: now }, now);
    case 'suspend':
    case 'attach':
      return withComputeState(record, { current: 'idle', pending }, now);
    case 'apply':
    case 'check':
    case 'sql':
    case 'remove':
      return withComputeState(record, { pending }, now);
  }
}

function branchStepMutations(
  step: BranchStep,
  project: ProjectState,
  branch: BranchRecord,
  now: number,
): readonly Mutation[] {
  switch (step.kind) {
    case 'createBranch':
      return [readyMutation(branch, now)];
    case 'restoreBranch': {
      const { sourceId, preservedId, moment } = step;
      const last_reset_at = toTimestamp(now);
      const { lsn, timestamp }: { readonly lsn?: string; readonly timestamp?: string | undefined } =
        moment ?? {};
      const position = { parent_lsn: lsn, parent_timestamp: timestamp };
      const origin = { parent_id: sourceId, init_source: undefined, ...position };
      return [
        readyMutation(
          {
            ...branch,
            ...(!isOwnEarlierData(branch, project.branches.get(sourceId)) && origin),
            last_reset_at,
          },
          now,
        ),
        ...(preservedId === undefined ? [] : preservationMutations(project, branch.id, preservedId, now)),
      ];
    }
    case 'finalizeBranch':
      return finalizationMutations(step, project, branch, now);
    case 'deleteBranch':
      return [];
  }
}

/** Returns the mutations after a restore: the preserved branch has the old data, so the children of the restored branch become its children. */
function preservationMutations(
  project: ProjectState,
  id: string,
  preservedId: string,
  now: number,
): Mutation[] {
  const preserved = project.branches.get(preservedId);
  if (preserved === undefined) return [];
  return [
    readyMutation(preserved, now),
    ...childrenOf(project, id).map((child): Mutation => ({
      set: 'branch',
      value: { ...child, parent_id: preservedId },
    })),
  ];
}

/** Returns the mutations after a step has failed. @param error the reason, for users */
export function failureMutations(
  { step, record }: StoredOperation,
  account: AccountState,
  now: number,
  error: string,
): readonly Mutation[] {
  const { project, branch, compute } = targetRecords(record, account);
  if (isBranchStep(step))
    return branch === undefined ? [] : branchFailureMutations(step, project, branch, now);
  if (isSnapshotStep(step))
    return step.kind === 'deleteSnapshot'
      ? []
      : [{ removed: 'snapshot', projectId: project.record.id, id: step.snapshotId }];
  return compute === undefined
    ? []
    : computeMutations(account, compute, afterComputeFailure(step, compute.record, now, error), now);
}

/**
 * Returns the record of a compute after a failure. A failed change restores the old settings, a failed start leaves the compute
 * idle, and a failed suspend leaves its state.
 */
function afterComputeFailure(
  step: ComputeStep,
  record: ComputeRecord,
  now: number,
  error: string,
): ComputeRecord {
  switch (step.kind) {
    case 'apply':
      return withComputeState(step.before, { current: record.current_state, pending: undefined }, now);
    case 'start':
    case 'attach':
      return withComputeState(record, { current: 'idle', pending: undefined, error }, now);
    case 'suspend':
    case 'check':
    case 'sql':
    case 'remove':
      return withComputeState(record, { pending: undefined }, now);
  }
}

/** Returns the mutations that remove a branch or project that could not be created. A branch that could not be restored keeps its old data. */
function branchFailureMutations(
  step: BranchStep,
  project: ProjectState,
  branch: BranchRecord,
  now: number,
): readonly Mutation[] {
  switch (step.kind) {
    case 'createBranch':
      if (step.parentId === undefined) return [{ removed: 'project', projectId: project.record.id }];
      return branchRemovals(project, branch.id);
    case 'restoreBranch':
      return [
        readyMutation(branch, now),
        ...(step.preservedId === undefined ? [] : branchRemovals(project, step.preservedId)),
        ...endPendingMutations(project, branch.id, now),
      ];
    case 'finalizeBranch':
      return endPendingMutations(project, step.targetId, now);
    case 'deleteBranch':
      return [];
  }
}

/** Returns the mutations that remove the branch and its computes from the account. */
export function branchRemovals(project: ProjectState, id: string): readonly Mutation[] {
  const projectId = project.record.id;
  const computes = computesOf(project, id);
  return [
    ...computes.map(({ record }): Mutation => ({ removed: 'compute', projectId, id: record.id })),
    { removed: 'branch', projectId, id },
  ];
}

function readyMutation(branch: BranchRecord, now: number): Mutation {
  const at = toTimestamp(now);
  const state = { current_state: 'ready', pending_state: undefined, state_changed_at: at } as const;
  return { set: 'branch', value: { ...branch, ...state, updated_at: at } };
}
