/** The slots of a branch's clients: which there are, and the end of those that no program reads. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { readDiskSpace } from '../history/historySpace.ts';
import { withSuperuser } from '../server/superuser.ts';
import { writePrivateFile } from '../storage/privateFiles.ts';
import { hasSlots } from '../wal/walFiles.ts';

/** Where a slot's file has the id of its database, which is 0 for physical ones (src/backend/replication/slot.c). */
const DATABASE_AT = 80;

/** Returns the names of logical slots, from the files in which Postgres keeps them, because the server might not be running. */
export function slotsOfBranch({ branches }: ServerDependencies, branchId: string): readonly string[] {
  const dataDir = branches.folder(branchId);
  if (!hasSlots(dataDir)) return [];
  const folder = path.join(dataDir, 'pg_replslot');
  return readdirSync(folder)
    .filter((name) => isLogical(path.join(folder, name, 'state')))
    .toSorted();
}

function isLogical(file: string): boolean {
  try {
    return readFileSync(file).readUInt32LE(DATABASE_AT) !== 0;
  } catch {
    return false; // Postgres is just removing the slot.
  }
}

/** A slot is dropped after its server has run for this many seconds without a program that reads the slot, as on the public service. */
const SLOT_IDLE_LIMIT = 40 * 3600;
/** The bytes of log from which an unused slot is reported. At 4 GB, it is lost. */
const MUCH = 1024 ** 3;
/**
 * The file next to the data that says for how long each slot wasn't read. The time counts only while the slot can be read, so that
 * a suspension doesn't end the slot.
 */
const IDLE_FILE = 'idle-slots';

/**
 * The first version that says since when a slot isn't in use. Older ones don't say when a slot was read, so only their lost slots,
 * which no program can read, are dropped.
 */
const FIRST_WITH_INACTIVE_SINCE = 17;

/** Since when a slot isn't in use, as Postgres writes it. Postgres 18 doesn't say it of a lost slot after a restart. */
const inactiveSince = (major: number) =>
  major < FIRST_WITH_INACTIVE_SINCE
    ? 'null::pg_catalog.text'
    : "pg_catalog.extract('epoch', inactive_since)::pg_catalog.text";
const IS_LOST = "wal_status operator(pg_catalog.=) 'lost'";
/** Whether the time of a slot is that of the server's start, which sets all times before the process that writes the log begins. */
const IS_RESTORED = `inactive_since operator(pg_catalog.<) (
  select backend_start from pg_catalog.pg_stat_activity where backend_type operator(pg_catalog.=) 'walwriter')`;
const slotsQuery = (major: number) => `select slot_name as name, active, ${IS_LOST} as "isLost",
    pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn)::pg_catalog.float8 as kept,
    confirmed_flush_lsn::pg_catalog.text as position,
    ${inactiveSince(major)} as since,
    ${major < FIRST_WITH_INACTIVE_SINCE ? 'null' : IS_RESTORED} as "isRestored"
  from pg_catalog.pg_replication_slots where slot_type operator(pg_catalog.=) 'logical'`;
const dropQuery = (
  major: number,
) => `select pg_catalog.pg_drop_replication_slot(slot_name) from pg_catalog.pg_replication_slots
  where slot_name operator(pg_catalog.=) $1 and not active
    and (${inactiveSince(major)} operator(pg_catalog.=) $2 or ($2 is null and ${IS_LOST}))`;

/** A slot as Postgres describes it. */
export interface SlotRow {
  readonly name: string;
  readonly active: boolean;
  readonly isLost: boolean;
  /** The bytes of log that Postgres keeps for the slot. */
  readonly kept: number | null;
}

interface SlotUse {
  /** Up to where the program has confirmed the changes. */
  readonly position: string | null;
  /**
   * When a program last read the slot, even if there was nothing to read, or when it was created, or when the server's start restored
   * it. Seconds since 1970; null if a program reads it now, or if Postgres doesn't say it.
   */
  readonly since: string | null;
}

interface SlotUseRow extends SlotRow, SlotUse {
  /**
   * Whether no program has used the slot since the server's start. Null just after the start, before the process that writes the log
   * begins, and if Postgres doesn't say it.
   */
  readonly isRestored: boolean | null;
}

const IdleSlots = z.record(
  z.string(),
  z.object({ position: z.nullable(z.string()), since: z.nullable(z.string()), seconds: z.number() }),
);

/** What a check has seen of a slot, and for how many seconds it wasn't read by then. */
interface IdleSlot extends SlotUse {
  readonly seconds: number;
}

/**
 * Drops the slots of a branch that no program has read for {@link SLOT_IDLE_LIMIT}, and logs the problems of others, once for each.
 * @param seconds since the last check
 * @param reported the slots whose problem was logged already, by branch. This function updates it
 * @throws {EngineError}
 */
export async function dropIdleSlots(
  deps: ServerDependencies & { readonly log: (line: string) => void },
  branchId: string,
  seconds: number,
  reported: Map<string, readonly string[]>,
): Promise<void> {
  const server = deps.branches.primary(branchId);
  if (server === undefined || server.isStopping || !hasSlots(deps.branches.folder(branchId))) return;
  const file = path.join(deps.storage.branch(branchId), IDLE_FILE);
  const { isFree } = await readDiskSpace(deps.storage);
  await withSuperuser(deps, server.address, async (client) => {
    const { rows } = await client.query<SlotUseRow>(slotsQuery(deps.binaries.major));
    const idle = countIdle(rows, readIdleSlots(file), seconds);
    const over = [...idle].filter(([, slot]) => slot.seconds >= SLOT_IDLE_LIMIT);
    for (const [name, { since }] of over) {
      idle.delete(name);
      const { rowCount } = await client.query(dropQuery(deps.binaries.major), [name, since]);
      // No row was dropped if a program has read the slot by now.
      if (rowCount === 1)
        deps.log(
          `${branchId}: dropped the replication slot ${name}, which no program has read for ${SLOT_IDLE_LIMIT / 3600} hours`,
        );
    }
    if (idle.size === 0) rmSync(file, { force: true });
    else writePrivateFile(file, JSON.stringify(Object.fromEntries(idle)));
    const problems = rows
      .filter(({ active, name }) => !active && !over.some(([each]) => each === name))
      .map((slot) => ({ name: slot.name, text: slotProblem(slot, isFree) }))
      .filter(({ text }) => text !== undefined);
    for (const { name, text } of problems)
      if (!reported.get(branchId)?.includes(name)) deps.log(`${branchId}: ${text}`);
    reported.set(
      branchId,
      problems.map(({ name }) => name),
    );
  });
}

/** Returns the slots that no program reads, with the seconds since one did. A new slot with the name of an earlier one has none. */
export function countIdle(
  rows: readonly SlotUseRow[],
  before: Readonly<Record<string, IdleSlot>>,
  seconds: number,
): Map<string, IdleSlot> {
  const idle = new Map<string, IdleSlot>();
  for (const { name, active, isLost, position, since, isRestored } of rows) {
    if (active || (since === null && !isLost)) continue;
    const last = before[name];
    const isUnread =
      last !== undefined &&
      position === last.position &&
      (since === last.since || isRestored !== false || isLost);
    idle.set(name, { position, since, seconds: isUnread ? last.seconds + seconds : 0 });
  }
  return idle;
}

/** @param isFree whether the disk has space @returns undefined if there is nothing to say about a slot that no program reads */
export function slotProblem({ name, isLost, kept }: SlotRow, isFree: boolean): string | undefined {
  const dropIt = `drop it: pg_recvlogical --drop-slot --slot=${name}`;
  if (isLost)
    return (
      `the replication slot ${name} is lost, because it kept too much of the log. ` +
      `Its program must begin with a new slot and a new copy of the data; ${dropIt}`
    );
  if ((kept ?? 0) <= (isFree ? MUCH : 0)) return undefined;
  return (
    `no program reads the replication slot ${name}, which keeps ${Math.ceil((kept ?? 0) / 1024 ** 2)} MB of log on the disk. ` +
    `Unless its program continues, ${dropIt}`
  );
}

/** Returns the stored idle times of slots. There are none if the file is missing or damaged, so that the times count from now. */
function readIdleSlots(file: string): Readonly<Record<string, IdleSlot>> {
  try {
    return z.parse(IdleSlots, JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}
