/** The records of operations. Pure functions. */
import { randomUUID } from 'node:crypto';
import { toTimestamp } from '../../core/serviceClock.ts';
import { HttpError } from '../../core/serviceErrors.ts';
import type { ProjectState } from '../../state/accountState.ts';
import {
  isUnfinished,
  type BranchRecord,
  type BranchStep,
  type ComputeRecord,
  type ComputeStep,
  type Mutation,
  type OperationRecord,
  type OperationStep,
  type SnapshotRecord,
  type SnapshotStep,
  type StoredCompute,
  type StoredOperation,
} from '../../state/storedRecords.ts';

/** A step of a call, and the branch or compute that it changes. */
export interface OperationTask {
  readonly step: OperationStep;
  /** Without `endpoint_id`, the branch itself is changed. */
  readonly target: Pick<OperationRecord, 'project_id' | 'branch_id' | 'endpoint_id' | 'triggered_by'>;
}

export const computeTask = (
  { id, project_id, branch_id }: ComputeRecord,
  step: ComputeStep,
  triggered_by?: OperationRecord['triggered_by'],
): OperationTask => ({ step, target: { project_id, branch_id, endpoint_id: id, triggered_by } });

export const branchTask = ({ project_id, id }: BranchRecord, step: BranchStep): OperationTask => ({
  step,
  target: { project_id, branch_id: id },
});

export const snapshotTask = (
  { project_id, source_branch_id }: SnapshotRecord,
  step: SnapshotStep,
): OperationTask => ({
  step,
  target: { project_id, branch_id: source_branch_id },
});

/** Returns the task that starts a new compute, or that only opens its address if it is disabled. */
export const newStartTask = ({ record }: StoredCompute): OperationTask =>
  computeTask(record, { kind: record.disabled ? 'attach' : 'start' });

const actionOf = (step: OperationStep): OperationRecord['action'] => {
  switch (step.kind) {
    case 'start':
      return 'start_compute';
    case 'apply':
    case 'attach':
    case 'sql':
      return 'apply_config';
    case 'suspend':
    case 'remove':
      return 'suspend_compute';
    case 'check':
      return 'check_availability';
    case 'createBranch':
      return step.parentId === undefined ? 'create_timeline' : 'create_branch';
    case 'restoreBranch':
    case 'createSnapshot':
      return 'create_branch';
    case 'finalizeBranch':
      return 'apply_config';
    case 'deleteBranch':
    case 'deleteSnapshot':
      return 'delete_timeline';
  }
};

/** @param group see {@link StoredOperation} */
export function newOperation(
  { step, target }: OperationTask,
  status: OperationRecord['status'],
  now: number,
  group?: string,
): StoredOperation {
  const id = randomUUID();
  const record: OperationRecord = {
    id,
    ...target,
    action: actionOf(step),
    status,
    failures_count: 0,
    created_at: toTimestamp(now),
    updated_at: toTimestamp(now),
    total_duration_ms: 0,
  };
  return { record, step, group: group ?? id };
}

/** @param error why the operation failed, for users */
export function withOperationStatus(
  { record, ...rest }: StoredOperation,
  status: OperationRecord['status'],
  now: number,
  error?: string,
): StoredOperation {
  const changed: OperationRecord = {
    ...record,
    status,
    ...(error === undefined ? {} : { error, failures_count: record.failures_count + 1 }),
    updated_at: toTimestamp(now),
    // The clock may have been set back in between.
    total_duration_ms: Math.max(0, now - Date.parse(record.created_at)),
  };
  return { ...rest, record: changed };
}

/** Returns the error 423. Nothing was done, so the client can safely retry. */
export function lockedError(
  { record }: StoredOperation,
  advice = 'Nothing was changed. Try again when it has ended.',
): HttpError {
  const { id, action, status, branch_id, endpoint_id } = record;
  const where = endpoint_id === undefined ? `branch ${branch_id}` : `compute ${endpoint_id}`;
  const message = `Operation ${action} (${id}, ${status}) is running on ${where}. ${advice}`;
  return new HttpError(423, 'LOCKED', message, { 'retry-after': '1' });
}

export const unfinishedOperations = ({ operations }: ProjectState): readonly StoredOperation[] =>
  [...operations.values()].filter(isUnfinished);

/** The most operations that a project keeps, unless more are unfinished. */
const KEPT_OPERATIONS = 500;

/** Returns the removals of the oldest finished operations above {@link KEPT_OPERATIONS}. */
export function oldOperationRemovals({ operations, record }: ProjectState): Mutation[] {
  const finished = [...operations.values()].filter((operation) => !isUnfinished(operation));
  const tooMany = Math.max(0, operations.size - KEPT_OPERATIONS);
  return finished
    .slice(0, tooMany)
    .map((operation) => ({ removed: 'operation', projectId: record.id, id: operation.record.id }));
}
