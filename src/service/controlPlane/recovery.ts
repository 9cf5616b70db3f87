/**
 * What happens to computes when the service ends and starts. No compute runs without the service, so all active ones
 * become idle. Those that never suspend are started again.
 */
import { AUTOSUSPEND_NEVER } from '../../api/rules/autosuspendDelay.ts';
import { limitConcurrency } from '../../base/limitConcurrency.ts';
import type { ComputeEngine, PooledSessions } from '../core/computeEngine.ts';
import type { RecordedIds } from '../core/recordedIds.ts';
import type { AccountState } from '../state/accountState.ts';
import {
  isSnapshotStep,
  type Mutation,
  type StoredCompute,
  type StoredOperation,
} from '../state/storedRecords.ts';
import { branchAndSnapshotIds } from './branches/deletedProjects.ts';
import { computeSpec, withComputeState } from './records/computeRecord.ts';
import { computeTask, newOperation, unfinishedOperations } from './records/operationRecord.ts';
import { computeMutations } from './records/countUsage.ts';

/** The most computes that are attached at once. Each may start a PgBouncer, whose port is free only until another program takes it. */
const MAX_CONCURRENT_ATTACHMENTS = 32;

/** Returns whose data the engine keeps and whose data isn't needed. It may have data of others, if the account is an older one. */
export function recordedIds(account: AccountState): RecordedIds {
  const projects = [...account.projects.values()];
  const recoverable = [...account.deleted.values()].flatMap(({ branchIds }) => branchIds);
  const branches = new Set([...projects.flatMap(branchAndSnapshotIds), ...recoverable]);
  // What an operation names was recorded before it had data.
  const named = projects.flatMap(({ operations }) =>
    [...operations.values()].map(({ step, record }) =>
      isSnapshotStep(step) ? step.snapshotId : record.branch_id,
    ),
  );
  const removed = [...account.leftovers.values()].flatMap(({ branchIds }) => branchIds);
  return {
    branches: [...branches],
    formerBranches: [...named, ...removed].filter((id) => !branches.has(id)),
    computes: [...account.computes()].map(({ record }) => record.id),
  };
}

/**
 * Returns the mutations that suspend every active compute. Its unfinished operations continue at the next start, before the
 * one that starts it again.
 */
export function suspensionMutations(account: AccountState, now: number): Mutation[] {
  return account.activeComputes().flatMap((compute) => {
    const { record } = compute;
    const unfinished = unfinishedOn(account, compute);
    const suspended = newOperation(computeTask(record, { kind: 'suspend' }), 'finished', now);
    const started = newOperation(
      computeTask(record, { kind: 'start' }),
      'scheduling',
      now,
      unfinished[0]?.group,
    );
    const isStarted =
      record.suspend_timeout_seconds === AUTOSUSPEND_NEVER &&
      !record.disabled &&
      unfinished.every(({ step }) => step.kind === 'apply');
    const operations = [...(unfinished.length > 0 ? [] : [suspended]), ...(isStarted ? [started] : [])];
    const pending = isStarted ? 'active' : record.pending_state;
    const idle = withComputeState(record, { current: 'idle', pending }, now);
    return [
      ...computeMutations(account, compute, idle, now),
      ...operations.map((value): Mutation => ({ set: 'operation', value })),
    ];
  });
}

const unfinishedOn = (account: AccountState, { record }: StoredCompute): readonly StoredOperation[] =>
  unfinishedOperations(account.project(record.project_id)).filter(
    (operation) => operation.record.endpoint_id === record.id,
  );

/**
 * Returns the mutations that exclude the time without the service from usage. After a kill, they also exclude the time since
 * the last write, because the time of the kill is unknown.
 */
export const uncountedTimeMutations = (account: AccountState, now: number): Mutation[] =>
  [...account.activeComputes()].map((compute) => ({
    set: 'compute',
    value: { ...compute, uncountedSince: now },
  }));

/** Returns the mutations that update `pooled_sessions`: PgBouncer may have been installed or removed. */
export const pooledSessionsMutations = (account: AccountState, pooled_sessions: PooledSessions): Mutation[] =>
  [...account.computes()]
    .filter(({ record }) => record.pooled_sessions !== pooled_sessions)
    .map((compute) => ({
      set: 'compute',
      value: { ...compute, record: { ...compute.record, pooled_sessions } },
    }));

/**
 * Opens the address of every compute, except where an unfinished change opens it with the old settings first. A failure is
 * reported and does not stop the others.
 */
export async function attachAllComputes(
  account: AccountState,
  engine: ComputeEngine,
  onFailure: (computeId: string, error: unknown) => void,
): Promise<void> {
  const limited = limitConcurrency(MAX_CONCURRENT_ATTACHMENTS);
  const attach = async (id: string): Promise<void> => {
    // The compute is looked up late, because it may have been deleted or changed by then.
    const compute = account.compute(id);
    if (compute === undefined || unfinishedOn(account, compute).some(({ step }) => step.kind === 'apply'))
      return;
    await engine.attach(computeSpec(compute)).catch((error: unknown) => onFailure(id, error));
  };
  await Promise.all([...account.computes()].map(({ record }) => limited(async () => attach(record.id))));
}
