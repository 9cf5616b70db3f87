/** The records of operations (section 2.6). Pure functions. */
import { randomUUID } from 'node:crypto';
import { toTimestamp } from '../core/clock.ts';
import type { ProjectState } from '../state/store.ts';
import {
  durationOf,
  isUnfinished,
  type Change,
  type ComputeRecord,
  type OperationRecord,
  type OperationStep,
  type StoredOperation,
} from '../state/storedRecords.ts';

/** A step of a call, and the branch or compute that it changes. */
export interface Task {
  readonly step: OperationStep;
  readonly target: OperationTarget;
}

export interface OperationTarget {
  readonly project_id: string;
  readonly branch_id: string;
  /** Missing if the branch itself is changed. */
  readonly endpoint_id?: string;
}

export const computeTarget = ({ id, project_id, branch_id }: ComputeRecord): OperationTarget => ({
  project_id,
  branch_id,
  endpoint_id: id,
});

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
      return 'create_branch';
    case 'deleteBranch':
      return 'delete_timeline';
  }
};

export interface NewOperation extends Task {
  readonly status: OperationRecord['status'];
  readonly sequence: number;
  readonly now: number;
}

export function newOperation({ target, step, status, sequence, now }: NewOperation): StoredOperation {
  const record: OperationRecord = {
    id: randomUUID(),
    ...target,
    action: actionOf(step),
    status,
    failures_count: 0,
    created_at: toTimestamp(now),
    updated_at: toTimestamp(now),
    total_duration_ms: 0,
  };
  return { record, step, sequence };
}

/** @param error why the operation failed, for users */
export const withStatus = (
  record: OperationRecord,
  status: OperationRecord['status'],
  now: number,
  error?: string,
): OperationRecord => {
  const updated_at = toTimestamp(now);
  return {
    ...record,
    status,
    ...(error === undefined ? {} : { error, failures_count: record.failures_count + 1 }),
    updated_at,
    total_duration_ms: durationOf({ ...record, updated_at }),
  };
};

/** Finished operations that a project keeps. */
const KEPT_OPERATIONS = 500;

/** Returns the removals of the oldest finished operations above this number. */
export function removeOldOperations(project: ProjectState | undefined): Change[] {
  if (project === undefined) return [];
  let tooMany = project.operations.size - KEPT_OPERATIONS;
  const removals: Change[] = [];
  for (const operation of project.operations.values()) {
    if (tooMany <= 0) break;
    if (isUnfinished(operation)) continue;
    removals.push({ removed: 'operation', projectId: project.record.id, id: operation.record.id });
    tooMany -= 1;
  }
  return removals;
}
