/**
 * Creates the data of a branch as it was at a moment in its history: Postgres recovers a base to the last record before the
 * moment, and continues on a new timeline. The caller shares the branch's lock.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { HistoryRange, Moment } from '../../core/branchHistory.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { makePrivateFolder, removeLargeFolder, writePrivateFile } from '../storage/privateFiles.ts';
import { withInternalServer } from '../server/launchServer.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { withSuperuser } from '../server/superuser.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { copyBase } from './baseBackup.ts';
import { endOfWal } from './endOfWal.ts';
import {
  isTemplateBase,
  keptWalSettings,
  readHistory,
  writeHistory,
  type BaseBackupRecord,
} from '../history/history.ts';
import { RolePasswords } from '../roles/rolePasswords.ts';
import { scramVerifier } from '../roles/logins.ts';
import { formatLsn, parseLsn } from '../../core/lsn.ts';
import type { Wal } from '../wal/walFiles.ts';
import { CommitTimeCheck } from '../wal/commitTimeCheck.ts';
import { readWalRecords, startOfRecord, type WalRecord } from '../wal/walRecords.ts';

/** Reads from a copy of the branch as it was at the moment. The copy is removed at the end. @throws {EngineError} */
export async function readAtMoment<T>(
  deps: ServerDependencies,
  branchId: string,
  moment: Moment,
  read: (server: Postmaster) => Promise<T>,
): Promise<T> {
  // The folder has no record: the next service removes it if this one is killed.
  const folder = path.join(deps.storage.root, 'branches', `${branchId}.${randomBytes(4).toString('hex')}`);
  try {
    return await copyDataAt(deps, branchId, folder, moment, read);
  } finally {
    await removeLargeFolder(folder);
  }
}

/**
 * Copies the data of the branch as it was at the moment.
 * @param folder the folder of the copy, which is created in its subfolder `data` and keeps the history up to the moment
 * @param work what to do with the server that recovers the copy
 * @returns what `work` returns
 * @throws {EngineError}
 */
export async function copyDataAt<T>(
  deps: ServerDependencies,
  branchId: string,
  folder: string,
  moment: Moment,
  work: (server: Postmaster) => Promise<T>,
): Promise<T> {
  const { storage } = deps;
  const source = storage.branch(branchId);
  const head = await endOfWal(deps, branchId);
  const { wal, bases = [] } = readHistory(storage, source) ?? {};
  const base = findBase(bases, moment);
  if (wal === undefined || base === undefined)
    throw new EngineError(`The history of branch ${branchId} does not reach back to this moment`);
  makePrivateFolder(folder);
  // From now on, these bases are not removed.
  const kept = bases.slice(0, bases.indexOf(base) + 1);
  writeHistory(folder, kept);
  const { target, time } = await findTarget(wal, base, moment, head, branchId);
  await copyBase(deps, branchId, folder, { wal, base, start: kept[0]?.start ?? base.start, end: target.end });
  const changed = new RolePasswords(source).changedSince(time ?? base.time);
  return withRecoveredServer(
    deps,
    branchId,
    { dataDir: path.join(folder, 'data'), target: target.start, timeline: wal.timelineAt(target.start) },
    async (server) => {
      await setRolePasswords(deps, server, changed);
      return work(server);
    },
  );
}

/**
 * Returns the moments to which a branch can be restored, with the position of `timestamp`.
 * @returns undefined without history
 * @throws {EngineError} also if the time occurred more than once, because the clock was set back
 */
export async function readHistoryRange(
  deps: ServerDependencies,
  branchId: string,
  timestamp?: string,
): Promise<HistoryRange | undefined> {
  const { branches, storage } = deps;
  return branches.lock(branchId).shared(async () => {
    const end = await endOfWal(deps, branchId);
    const { wal, bases = [] } = readHistory(storage, storage.branch(branchId)) ?? {};
    const [oldest] = bases;
    if (wal === undefined || oldest === undefined) return undefined;
    const start = new Date(oldest.time).toISOString();
    const ends = { startLsn: formatLsn(oldest.end), endLsn: formatLsn(end) };
    const range = { start, isWhole: isTemplateBase(oldest), ...ends };
    const base = timestamp === undefined ? undefined : findBase(bases, { timestamp });
    if (timestamp === undefined || base === undefined) return range;
    const { target } = await findTarget(wal, base, { timestamp }, end, branchId);
    return { ...range, lsnOfTime: formatLsn(Math.max(target.end, base.end)) };
  });
}

/**
 * Returns the last base before the moment. For a time, it ignores the bases since the clock was first set back, so that the log
 * read from the returned base includes that step, and a time that occurred twice is noticed.
 */
export function findBase(bases: readonly BaseBackupRecord[], moment: Moment): BaseBackupRecord | undefined {
  if ('lsn' in moment) return bases.findLast(({ end }) => end <= (parseLsn(moment.lsn) ?? 0));
  const back = bases.findIndex(({ time }, index) => time < (bases[index - 1]?.time ?? 0));
  const inOrder = back === -1 ? bases : bases.slice(0, back);
  return inOrder.findLast(({ time }) => time <= Date.parse(moment.timestamp));
}

/**
 * Finds the last record to recover. A position includes all records before it. A time doesn't: a transaction that ends later may
 * already have done what Postgres doesn't undo, such as taking a new value of a sequence or removing a database's files. So for a
 * time, the last record is that of the last transaction that had ended by then.
 * @returns the record, and when the last transaction before it ended (milliseconds since 1970)
 */
async function findTarget(wal: Wal, base: BaseBackupRecord, moment: Moment, head: number, branchId: string) {
  const end = 'lsn' in moment ? Math.min(head, parseLsn(moment.lsn) ?? 0) : head;
  const until = 'lsn' in moment ? Infinity : toMicroseconds(moment.timestamp);
  let target: WalRecord | undefined;
  let last: WalRecord | undefined;
  let time: number | undefined;
  let isFound = false;
  const clock = new CommitTimeCheck(until, base.end);
  for (const record of readWalRecords(wal, base.start)) {
    const isEnd = record.start >= Math.max(end, base.end);
    isFound ||= isEnd || (record.time !== undefined && record.time > until);
    if (isEnd) break;
    // Reading many files must not keep the service from replying.
    if (last !== undefined && wal.segmentAt(last.start) !== wal.segmentAt(record.start)) await setImmediate();
    last = record;
    clock.add(record);
    const isIncluded = until === Infinity || (record.time !== undefined && record.time <= until);
    // A later record counts only if it ends a transaction in time.
    if (target !== undefined && record.start >= base.end && !isIncluded) continue;
    target = record;
    time = record.time === undefined ? time : record.time / 1000;
  }
  // A position may also be after the header of the page that begins where the last record ends.
  isFound ||= last !== undefined && startOfRecord(wal, last.end) >= end;
  if (target === undefined || !isFound)
    throw new EngineError(
      `The write-ahead log of branch ${branchId} is damaged at ${formatLsn(last?.end ?? base.start)}. Earlier moments can be restored.`,
    );
  clock.requireUnambiguousTime(branchId, target);
  return { target, time };
}

/** Returns the microseconds since 1970. A Date would round the time to milliseconds. */
export function toMicroseconds(timestamp: string): number {
  const [, digits = ''] = /\.(\d+)/.exec(timestamp) ?? [];
  const seconds = Math.floor(Date.parse(timestamp.replace(/\.\d+/, '')) / 1000);
  return seconds * 1_000_000 + Number(digits.slice(0, 6).padEnd(6, '0'));
}

/** Does the reverse of {@link toMicroseconds}. */
export function fromMicroseconds(since1970: number): string {
  const milliseconds = Math.floor(since1970 / 1000);
  const rest = String(since1970 - milliseconds * 1000).padStart(3, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`);
}

/** The least `max_prepared_transactions` for recovery, which needs at least as many as the server had that prepared them. */
const PREPARED_TRANSACTIONS = 100;

interface Recovery {
  readonly dataDir: string;
  readonly target: number;
  readonly timeline: number;
}

async function withRecoveredServer<T>(
  deps: ServerDependencies,
  branchId: string,
  { dataDir, target, timeline }: Recovery,
  work: (server: Postmaster) => Promise<T>,
): Promise<T> {
  writePrivateFile(path.join(dataDir, 'recovery.signal'), '');
  const { max_prepared_transactions = 0, ...standby } = deps.branches.standbySettings(branchId) ?? {};
  const folder = path.dirname(dataDir);
  const settings = {
    ...standby,
    max_prepared_transactions: Math.max(max_prepared_transactions, PREPARED_TRANSACTIONS),
    // Postgres requires the command. All WAL is there, so it only has to fail.
    restore_command: 'exit 1',
    recovery_target_lsn: formatLsn(target),
    recovery_target_timeline: timeline,
    recovery_target_action: 'promote',
    hot_standby: 'off',
    autovacuum: 'off',
    ...keptWalSettings(folder),
    // The folder is synced as a whole, before it gets its name.
    fsync: 'off',
  };
  return withInternalServer(
    deps,
    { id: branchId, dataDir, name: path.basename(folder), settings },
    work,
    (reason) => `The history of branch ${branchId} cannot be used: ${reason}`,
  );
}

/** Gives roles the passwords that connection strings contain. */
export async function setRolePasswords(
  deps: ServerDependencies,
  { address }: Pick<Postmaster, 'address'>,
  passwords: ReadonlyMap<string, string>,
): Promise<void> {
  if (passwords.size === 0) return;
  await withSuperuser(deps, address, async (client) => {
    const { rows } = await client.query<{ role: string }>(
      'select rolname as role from pg_catalog.pg_roles where rolname::text operator(pg_catalog.=) any ($1)',
      [[...passwords.keys()]],
    );
    for (const { role } of rows)
      await client.query(
        `alter role ${client.escapeIdentifier(role)} password '${scramVerifier(passwords.get(role) ?? '')}'`,
      );
  });
}
