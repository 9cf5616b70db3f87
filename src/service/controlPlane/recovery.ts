/**
 * What happens to computes when the service ends and starts. No compute runs without the service, so all active ones
 * become idle. Those that never suspend are started again.
 */
import { AUTOSUSPEND_NEVER } from '../../api/records/autosuspend.ts';
import { limitConcurrency } from '../../base/limitConcurrency.ts';
import type { ComputeEngine, PooledSessions } from '../core/computeEngine.ts';
import { withState, specOf } from './computeRecord.ts';
import { changeRecord } from './usage.ts';
import { computeTarget, newOperation } from './operationRecord.ts';
import type { AccountState, ProjectState } from '../state/store.ts';
import { isUnfinished, type Change, type StoredCompute } from '../state/storedRecords.ts';

/**
 * Returns the changes that suspend every active compute. A compute with an unfinished operation only becomes idle: the
 * operation continues at the next start.
 */
export function suspendAll(account: AccountState, now: number): Change[] {
  let sequence = account.nextSequence();
  const changes: Change[] = [];
  for (const compute of account.active.values()) {
    const project = account.projects.get(compute.record.project_id);
    if (project === undefined) continue;
    const operations = hasUnfinishedOperation(project, compute) ? [] : suspension(compute, sequence, now);
    sequence += operations.length;
    const pending = operations.length > 1 ? 'active' : compute.record.pending_state;
    const idle = withState(compute.record, { current: 'idle', pending }, now);
    changes.push(...changeRecord(compute, project, idle, now), ...operations);
  }
  return changes;
}

const hasUnfinishedOperation = (project: ProjectState, { record }: StoredCompute): boolean =>
  [...project.operations.values()].some(
    (operation) => operation.record.endpoint_id === record.id && isUnfinished(operation),
  );

function suspension({ record: compute }: StoredCompute, sequence: number, now: number): Change[] {
  const target = computeTarget(compute);
  const suspend = { target, step: { kind: 'suspend' }, status: 'finished', sequence, now } as const;
  const suspended: Change = { set: 'operation', value: newOperation(suspend) };
  if (compute.suspend_timeout_seconds !== AUTOSUSPEND_NEVER) return [suspended];
  const start = {
    target,
    step: { kind: 'start' },
    status: 'scheduling',
    sequence: sequence + 1,
    now,
  } as const;
  return [suspended, { set: 'operation', value: newOperation(start) }];
}

/**
 * Returns the changes after which the time without the service does not count as usage. After a kill, usage since the last
 * write does not count either, because the time of the kill is unknown.
 */
export const resetUncountedTime = (account: AccountState, now: number): Change[] =>
  [...account.active.values()].map((compute) => ({
    set: 'compute',
    value: { ...compute, uncountedSince: now },
  }));

/** Returns the changes after which all computes have these sessions: PgBouncer may have been installed or removed. */
export const setPooledSessions = (account: AccountState, pooled_sessions: PooledSessions): Change[] =>
  [...account.computes()]
    .filter(({ record }) => record.pooled_sessions !== pooled_sessions)
    .map((compute) => ({
      set: 'compute',
      value: { ...compute, record: { ...compute.record, pooled_sessions } },
    }));

const MAX_CONCURRENT_ATTACHMENTS = 32;

/**
 * Opens the address of every compute, except where an unfinished operation will do it. A failure is reported and does not
 * stop the others.
 */
export async function attachAll(
  account: AccountState,
  engine: ComputeEngine,
  onFailure: (computeId: string, error: unknown) => void,
): Promise<void> {
  const limited = limitConcurrency(MAX_CONCURRENT_ATTACHMENTS);
  const attach = async (id: string): Promise<void> => {
    // Looked up late, because it may have been deleted or changed by then.
    const compute = account.compute(id);
    const project = account.projects.get(compute?.record.project_id ?? '');
    if (compute === undefined || project === undefined || hasUnfinishedOperation(project, compute)) return;
    const spec = specOf(compute.record, compute.address, project.record);
    await engine.attach(spec).catch((error: unknown) => onFailure(id, error));
  };
  await Promise.all([...account.computes()].map(({ record }) => limited(() => attach(record.id))));
}
