/** What has changed in a branch, and what since the moments of a list. Only the local service knows that, from its write-ahead log. */
import type { ChangesSince, SchemaChange } from '../../api/records/records.ts';
import { pointInTimeParameter } from '../../api/records/pointInTime.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { BranchRef } from '../account/refs.ts';
import type { ComputeActions } from '../computes/computeActions.ts';
import { primaryOf } from '../inventory/branchStatus.ts';
import { computeStatus } from '../inventory/computeStatus.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { finishChange } from '../operations/finishChange.ts';
import type { OperationTracker } from '../operations/operationTracker.ts';
import type { Moment } from './moments.ts';

/** Returns what has changed since a moment; undefined if it isn't known. */
export type FoundChanges = (moment: Moment) => ChangesSince | undefined;
export const hasNoChanges = (changes: ChangesSince | undefined): boolean => changes?.tables_count === 0;
/** Loads the changes since all moments with one request. Never rejects. */
export type LoadMomentChanges = (moments: readonly Moment[]) => Promise<FoundChanges | undefined>;

interface ChangesSources {
  readonly session: { readonly connection: AccountConnection | undefined };
  readonly log: { readonly error: (what: string, error: unknown) => void };
}

/** Returns a function that loads the changes; undefined for a service that doesn't offer them. */
export function momentChangesLoader(
  { session, log }: ChangesSources,
  ref: BranchRef,
): LoadMomentChanges | undefined {
  const { connection } = session;
  if (connection?.isLocal !== true) return undefined;
  return async (moments) => {
    const points = [...new Set(moments.flatMap((moment) => parameterOf(moment, ref) ?? []))];
    if (points.length === 0) return undefined;
    try {
      const { branches } = await connection.client();
      const { projectId, branchId } = ref;
      const found = await branches.listChangesSince(projectId, branchId, points, {
        signal: connection.signal,
      });
      const bySince = new Map(found?.map((each) => [each.since, each]));
      return (moment) => bySince.get(parameterOf(moment, ref) ?? '');
    } catch (error) {
      log.error('Counting changes', error);
      return undefined;
    }
  };
}

/**
 * Returns a function that loads the known changes of the schema with their times. It never rejects: after an error, it loads none.
 * @returns undefined for a service that doesn't offer this
 */
export function schemaChangesLoader({ session, log }: ChangesSources, { projectId, branchId }: BranchRef) {
  const { connection } = session;
  if (connection?.isLocal !== true) return undefined;
  return async (): Promise<readonly SchemaChange[]> => {
    try {
      const { branches } = await connection.client();
      return (await branches.listSchemaChanges(projectId, branchId, { signal: connection.signal })) ?? [];
    } catch (error) {
      log.error('Finding changes of the schema', error);
      return [];
    }
  };
}

interface StartDependencies extends Pick<ChangesSources, 'log'> {
  readonly inventory: Inventory;
  readonly computeActions: ComputeActions;
  readonly tracker: OperationTracker;
}

/** Starts the branch's compute if it is idle, because the changes are known only while it runs. Never rejects. */
export async function startIdlePrimary(
  { inventory, computeActions, tracker, log }: StartDependencies,
  ref: BranchRef,
  initialConnection: AccountConnection | undefined,
): Promise<void> {
  const { projectId, branchId } = ref;
  try {
    await inventory.refreshComputes(projectId);
    const compute = primaryOf(inventory, ref);
    if (compute === undefined || computeStatus(compute) !== 'idle') return;
    const node = { kind: 'compute', projectId, branchId, computeId: compute.id } as const;
    const start = () => computeActions.start(node, { initialConnection });
    await finishChange(tracker, initialConnection, start);
  } catch (error) {
    log.error('Starting a compute to count changes', error);
  }
}

/** Returns the moment as in a request; undefined if it isn't in a history, such as a snapshot. */
function parameterOf({ source: { branchId, at, snapshotId } }: Moment, ref: BranchRef): string | undefined {
  if (snapshotId !== undefined || at === undefined) return undefined;
  return branchId === ref.branchId ? pointInTimeParameter(at) : `${branchId}@${pointInTimeParameter(at)}`;
}
