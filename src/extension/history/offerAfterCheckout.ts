/**
 * Finds out whether the database branch can go back to the migrations of the commit that git has gone back to. See
 * `migrationOffer.ts`.
 */
import { findReaderLogin } from '../connection/branchLogin.ts';
import { pointInTime } from '../../api/records/pointInTime.ts';
import { parseDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import type { RunGit } from '../../base/git/runGit.ts';
import type { BranchRef } from '../account/refs.ts';
import type { Session } from '../account/session.ts';
import type { WorkFolder, WorkFolderState } from '../gitBranch/workFolder.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { branchHistory } from './knownHistory.ts';
import { readHeadLog } from './headLog.ts';
import type { Markers } from './markers.ts';
import type { AppliedMigrations } from '../database/sql/appliedMigrations.ts';
import { areUnchangedSince, readMigrationFiles } from './migrationFiles.ts';
import { findLaterMigrations, isAtOrAfter, removedMigrations } from './migrationOffer.ts';
import { earliestMoment, restoreSourceAt } from './moments.ts';
import { type RestoreSource } from '../account/refs.ts';

interface CheckoutDependencies {
  readonly runGit: RunGit;
  readonly session: Session;
  readonly inventory: Inventory;
  readonly markers: Markers;
}

/** What is offered after a checkout of a commit with fewer migrations. */
export interface MigrationOffer {
  readonly ref: BranchRef;
  readonly source: RestoreSource;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** How many migrations the database has that the commit doesn't have. */
  readonly count: number;
}

/**
 * Finds what to offer, which wakes the branch's compute.
 * @returns undefined also if something isn't known for sure.
 * @throws {Error}
 */
export async function offerAfterCheckout(
  deps: CheckoutDependencies,
  { state, env }: WorkFolder,
): Promise<MigrationOffer | undefined> {
  const { session, inventory, markers, runGit } = deps;
  const { connection } = session;
  const { repository, current } = state;
  if (repository === undefined || current === undefined || !isUsedByCheckoutAlone(state)) return undefined;
  if (connection?.isLocal !== true || current.isDeleted || current.account !== connection.accountId)
    return undefined;
  const [event] = await readHeadLog(repository, undefined);
  if (event?.kind !== 'checkout' && event?.kind !== 'reset') return undefined;
  const { account, projectId, branchId } = current;
  const ref = { account, projectId, branchId };
  const list = await inventory.branches.refresh(projectId);
  if (list === undefined || list.branches.get(branchId)?.protected !== false) return undefined;
  const url = parseDatabaseUrl((await env.read()).value ?? '');
  if (url === undefined || url.host !== state.host) return undefined;
  const { signal } = connection;
  const files = await readMigrationFiles(runGit, repository);
  if (files === undefined) return undefined;
  const { readAppliedMigrations } = await import('../database/sql/appliedMigrations.ts');
  const { host, role, database } = url;
  const reader = await findReaderLogin(connection, ref, { host, role, database });
  const tables = reader && (await readAppliedMigrations(reader, signal));
  const removed = tables?.flatMap((applied) => {
    const found = removedMigrations(files, applied.rows);
    return found === undefined ? [] : [{ applied, ...found }];
  });
  const [own, other] = removed ?? [];
  if (tables === undefined || own === undefined || other !== undefined) return undefined;
  const { branches } = await connection.client();
  const read = async ({ table }: AppliedMigrations) =>
    (await branches.listTableTransactions(projectId, branchId, table, { signal })) ?? [];
  const found = findLaterMigrations(own.applied, own.later, await read(own.applied));
  if (found === undefined) return undefined;
  // Nothing is offered if another program has applied migrations since then.
  for (const table of tables)
    if (table !== own.applied && (await read(table)).some((each) => isAtOrAfter(each, found)))
      return undefined;
  const history = await branchHistory({ inventory, markers }, ref, { list, gitEvents: [] });
  const earliest = earliestMoment(history);
  const since = found.since === undefined ? earliest : Date.parse(found.since);
  const time = Date.parse(found.before);
  if (time < earliest || !(await areUnchangedSince(runGit, repository, own.files, since))) return undefined;
  const source = restoreSourceAt(history, pointInTime(found.before, found.lsn));
  return { ref, source, time, count: found.count };
}

/** Whether the env file points to the database of the checked-out commit, and to no other worktree's. */
function isUsedByCheckoutAlone({ map, git: { pause }, decision, sharedWith }: WorkFolderState): boolean {
  if (!map.isFollowed || sharedWith !== undefined) return false;
  if (pause !== undefined) return pause === 'detached';
  return decision.kind === 'nothing' || (decision.kind === 'keep' && decision.reason === 'defaultBranch');
}
