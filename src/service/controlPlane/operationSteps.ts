/** What each step does with the engine, and how its success or failure changes the compute's record. */
import { withState, specOf } from './computeRecord.ts';
import type { ComputeAddress, ComputeEngine } from '../core/computeEngine.ts';
import type { ComputeRecord, ComputeStep, ProjectRecord, StoredCompute } from '../state/storedRecords.ts';

/** @param compute undefined if it is deleted, so that only `remove` is left to do */
export async function perform(
  step: ComputeStep,
  engine: ComputeEngine,
  project: ProjectRecord,
  id: string,
  compute: StoredCompute | undefined,
): Promise<void> {
  if (step.kind === 'remove' || compute === undefined) {
    await engine.suspend(id);
    return engine.remove(id);
  }
  const spec = (record: ComputeRecord, address: ComputeAddress) => specOf(record, address, project);
  const now = spec(compute.record, compute.address);
  switch (step.kind) {
    case 'attach':
    case 'check':
    case 'sql':
      return engine.attach(now);
    case 'start':
      await engine.attach(now);
      return engine.start(now);
    case 'suspend':
      return engine.suspend(id);
    case 'apply': {
      const before = spec(step.before, compute.address);
      await engine.attach(before);
      return engine.applyConfig(before, now);
    }
  }
}

/** @param isLast whether no step follows, so that nothing is pending any more */
export function afterStep(
  step: ComputeStep,
  record: ComputeRecord,
  isLast: boolean,
  now: number,
): ComputeRecord {
  const pending = isLast ? undefined : record.pending_state;
  switch (step.kind) {
    case 'start':
      return withState(record, { current: 'active', pending, lastActive: now }, now);
    case 'suspend':
    case 'attach':
      return withState(record, { current: 'idle', pending }, now);
    case 'apply':
    case 'check':
    case 'sql':
    case 'remove':
      return withState(record, { pending }, now);
  }
}

/** A failed change restores the old settings, a failed start leaves the compute idle, a failed suspend leaves its state. */
export function afterFailure(step: ComputeStep, record: ComputeRecord, now: number): ComputeRecord {
  switch (step.kind) {
    case 'apply': {
      const { current_state: current } = record;
      return withState(step.before, { current, pending: undefined }, now);
    }
    case 'start':
    case 'attach':
      return withState(record, { current: 'idle', pending: undefined }, now);
    case 'suspend':
    case 'check':
    case 'sql':
    case 'remove':
      return withState(record, { pending: undefined }, now);
  }
}
