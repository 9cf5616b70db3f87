/** The slots of a branch's clients: which there are, and the end of those that no program reads. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { readDiskSpace } from '../history/historySpace.ts';
import { withSuperuser } from '../server/superuser.ts';
import { writePrivateFile } from '../storage/privateFiles.ts';
import { hasSlots } from '../wal/walFiles.ts';

/** Where a slot's file has the id of its database, which is 0 for physical ones (src/backend/replication/slot.c). */
const DATABASE_AT = 80;

/** The names of logical slots, from the files in which Postgres keeps them, because the server might not be running. */
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
    return false; // Postgres removes it now.
  }
}

/** A slot is dropped after its server has run for this many seconds without a program that reads the slot, as on the public service. */
const SLOT_IDLE_LIMIT = 40 * 3600;
/** The bytes of log from which an unused slot is reported. At 4 GB, it is lost. */
const MUCH = 1024 ** 3;
/**
 * The file next to the data that says for how long each slot wasn't read. A slot counts only while it can be read, so a suspension
 * doesn't end it.
 */
const IDLE_FILE = 'idle-slots';

const SLOTS = `select slot_name as name, active, wal_status operator(pg_catalog.=) 'lost' as "isLost",
    pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn)::pg_catalog.float8 as kept
  from pg_catalog.pg_replication_slots where slot_type operator(pg_catalog.=) 'logical'`;
const DROP = `select pg_catalog.pg_drop_replication_slot(slot_name) from pg_catalog.pg_replication_slots
  where slot_name operator(pg_catalog.=) $1 and not active`;

export interface SlotRow {
  readonly name: string;
  readonly active: boolean;
  readonly isLost: boolean;
  /** The bytes of log that Postgres keeps for the slot. */
  readonly kept: number | null;
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
  const before = readIdle(file);
  const { isFree } = await readDiskSpace(deps.storage);
  await withSuperuser(deps, server.address, async (client) => {
    const { rows } = await client.query<SlotRow>(SLOTS);
    const unread = rows.filter(({ active }) => !active);
    const idle = new Map(unread.map(({ name }) => [name, Number(before[name] ?? 0) + seconds]));
    const isOver = ({ name }: SlotRow) => (idle.get(name) ?? 0) >= SLOT_IDLE_LIMIT;
    for (const { name } of unread.filter(isOver)) {
      const { rowCount } = await client.query(DROP, [name]);
      idle.delete(name);
      // No row was dropped if a program reads the slot by now.
      if (rowCount === 1)
        deps.log(
          `${branchId}: dropped the replication slot ${name}, which no program has read for ${SLOT_IDLE_LIMIT / 3600} hours`,
        );
    }
    if (idle.size === 0) rmSync(file, { force: true });
    else writePrivateFile(file, JSON.stringify(Object.fromEntries(idle)));
    const problems = unread
      .filter((slot) => !isOver(slot))
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

function readIdle(file: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}
