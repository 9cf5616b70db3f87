/** How an operation's record comes to be and changes (section 2.6). */
import { randomUUID } from 'node:crypto';
import { timestamp } from '../core/clock.ts';
import type { ComputeRecord, OperationRecord, Step, StoredOperation } from '../state/storedRecords.ts';

export const actionOf = (step: Step): OperationRecord['action'] => {
  switch (step.kind) {
    case 'start':
      return 'start_compute';
    case 'apply':
    case 'attach':
      return 'apply_config';
    case 'suspend':
    case 'remove':
      return 'suspend_compute';
    case 'check':
      return 'check_availability';
  }
};

export interface NewOperation {
  readonly compute: ComputeRecord;
  readonly step: Step;
  readonly status: OperationRecord['status'];
  readonly sequence: number;
  readonly now: number;
}

export function newOperation({ compute, step, status, sequence, now }: NewOperation): StoredOperation {
  const record: OperationRecord = {
    id: randomUUID(),
    project_id: compute.project_id,
    branch_id: compute.branch_id,
    endpoint_id: compute.id,
    action: actionOf(step),
    status,
    failures_count: 0,
    created_at: timestamp(now),
    updated_at: timestamp(now),
  };
  return { record, step, sequence };
}

/** @param error why it failed, for people */
export const withStatus = (
  record: OperationRecord,
  status: OperationRecord['status'],
  now: number,
  error?: string,
): OperationRecord => ({
  ...record,
  status,
  ...(error === undefined ? {} : { error, failures_count: record.failures_count + 1 }),
  updated_at: timestamp(now),
});
