/** Starts computes for clients that connect to them, and records crashes that the engine reports. */
import { EngineError } from '../core/computeEngine.ts';
import type { ServiceClock } from '../core/clock.ts';
import { withState } from './computeRecord.ts';
import type { Computes } from './computes.ts';
import { changeRecord } from './usage.ts';
import { computeTarget, newOperation, withStatus } from './operationRecord.ts';
import type { Operations } from './operations.ts';
import type { ProjectState, Store } from '../state/store.ts';

export interface WakeOptions {
  readonly store: Store;
  readonly operations: Operations;
  readonly computes: Computes;
  readonly clock: ServiceClock;
}

/**
 * Starts the compute for a client that waits at its address, after the operation that runs on it now.
 * @throws {EngineError} with a message for the client
 */
export async function wake(options: WakeOptions, computeId: string): Promise<void> {
  const { operations, computes } = options;
  if (operations.isStopped) throw new EngineError('The service is stopping');
  const busy = operations.whenEnded(computeId);
  if (busy !== undefined) {
    await busy;
    const isUp = options.store.account.compute(computeId)?.record.current_state === 'active';
    return isUp ? undefined : wake(options, computeId);
  }
  const project = projectOf(options, computeId);
  if (project.computes.get(computeId)?.record.disabled === true) {
    throw new EngineError(`Compute ${computeId} is disabled`);
  }
  // The engine has no process for the compute, even if the record says that it is active.
  const [operation] = computes.startForClient(project, computeId).operations;
  await operations.whenEnded(computeId);
  const ended = project.operations.get(operation?.id ?? '')?.record;
  if (ended?.status === 'failed')
    throw new EngineError(ended.error ?? `Compute ${computeId} could not be started`);
}

/** Records that a process ended by itself: the compute is idle, and a failed check has the reason. */
export function recordCrash(options: WakeOptions, computeId: string, reason: string): void {
  const { store, operations, clock } = options;
  const compute = store.account.compute(computeId);
  if (compute === undefined || operations.on(computeId) !== undefined) return;
  if (compute.record.current_state !== 'active') return;
  const project = projectOf(options, computeId);
  const now = clock.now();
  const idle = withState(compute.record, { current: 'idle', pending: undefined }, now);
  const sequence = store.account.nextSequence();
  const target = computeTarget(idle);
  const check = { target, step: { kind: 'check' }, status: 'running', sequence, now } as const;
  const operation = newOperation(check);
  const value = { ...operation, record: withStatus(operation.record, 'failed', now, reason) };
  store.commit(...changeRecord(compute, project, idle, now), { set: 'operation', value });
}

function projectOf({ store }: WakeOptions, computeId: string): ProjectState {
  const id = store.account.compute(computeId)?.record.project_id;
  const project = store.account.projects.get(id ?? '');
  if (project === undefined) throw new EngineError(`There is no compute ${computeId}`);
  return project;
}
