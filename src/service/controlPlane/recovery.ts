/**
 * What becomes of computes when the service ends and begins. Nothing runs behind a compute while the service is
 * away, so those that were active are idle and say so; the ones that never sleep get started again.
 */
import { AUTOSUSPEND_NEVER } from '../../api/records/autosuspend.ts';
import type { Account, ProjectState } from '../state/account.ts';
import type { ComputeEngine, ComputeSpec } from '../core/computeEngine.ts';
import { withState, specOf } from './computeRecord.ts';
import { changeRecord } from './usage.ts';
import { newOperation } from './operationRecord.ts';
import { isUnfinished, type Change, type StoredCompute } from '../state/storedRecords.ts';

/**
 * The changes that put every active compute to sleep. With an operation of its own under way it is left to that
 * operation to tell the rest.
 */
export function suspendAll(account: Account, now: number): Change[] {
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
  const suspend = { compute, step: { kind: 'suspend' }, status: 'finished', sequence, now } as const;
  const suspended: Change = { set: 'operation', value: newOperation(suspend) };
  if (compute.suspend_timeout_seconds !== AUTOSUSPEND_NEVER) return [suspended];
  const start = {
    compute,
    step: { kind: 'start' },
    status: 'scheduling',
    sequence: sequence + 1,
    now,
  } as const;
  return [suspended, { set: 'operation', value: newOperation(start) }];
}

/**
 * The changes after which nothing that was while the service was away counts as use. Of a service that was killed, what ran
 * since its use was last written down is left out with it: nobody knows when it ended.
 */
export const resetUncountedTime = (account: Account, now: number): Change[] =>
  [...account.active.values()].map((compute) => ({
    set: 'compute',
    value: { ...compute, uncountedSince: now },
  }));

/** Addresses opened at once. */
const AT_ONCE = 32;

/**
 * Makes every compute answer at its address; one with an operation under way is left to that operation. One that
 * cannot is told of, and does not keep the others from it.
 */
export async function attachAll(
  account: Account,
  engine: ComputeEngine,
  onFailure: (computeId: string, error: unknown) => void,
): Promise<void> {
  const ids = [...account.computes()].map(({ record }) => record.id);
  for (let some = ids.splice(0, AT_ONCE); some.length > 0; some = ids.splice(0, AT_ONCE)) {
    const specs = some.flatMap((id) => specOfIdle(account, id));
    await Promise.all(
      specs.map((spec) => engine.attach(spec).catch((error: unknown) => onFailure(spec.id, error))),
    );
  }
}

/** Looked up at its turn: it may have been deleted or changed since. */
function specOfIdle(account: Account, id: string): ComputeSpec[] {
  const compute = account.compute(id);
  const project = account.projects.get(compute?.record.project_id ?? '');
  if (compute === undefined || project === undefined || hasUnfinishedOperation(project, compute)) return [];
  return [specOf(compute.record, compute.address, project.record)];
}
