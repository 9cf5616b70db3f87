/** Finds which tables a rehearsed migration would have kept others from, and for how long. */
import {
  LOCK_MODES,
  relationKey,
  type HeldLock,
  type LockMode,
  type Rehearsal,
} from '../api/records/rehearsal.ts';

/** What others can't do while a table is locked. Each use includes those after it: who can't read can't write either. */
export const BLOCKED_USES = ['reads', 'writes', 'changes of its definition'] as const;
export type BlockedUse = (typeof BLOCKED_USES)[number];

/** The weakest lock that blocks every read, write or change of the definition (Postgres manual, "Conflicting Lock Modes"). */
const WEAKEST_BLOCKING_LOCK: Readonly<Record<BlockedUse, LockMode>> = {
  reads: 'AccessExclusiveLock',
  writes: 'ShareLock',
  'changes of its definition': 'ShareUpdateExclusiveLock',
};

/** A table that others would have waited for. */
export interface BlockedTable {
  readonly database: string;
  readonly table: string;
  readonly blocks: BlockedUse;
  /** How many rows are blocked; missing if all rows are. */
  readonly rows?: number;
  /** When the first of the locks was taken, in milliseconds since the rehearsal began. */
  readonly from: number;
  /** How long others wait at most: from the first lock until the last of the overlapping locks is released. */
  readonly milliseconds: number;
  /** Indexes of the statements that took the locks. */
  readonly statements: readonly number[];
}

/**
 * Finds the tables that others would have waited for, the longest wait first. Tables that the migration has created are left out,
 * because no program uses them yet.
 */
export function blockedTables(rehearsal: Rehearsal): BlockedTable[] {
  const all = locksByTable(rehearsal).flatMap((held) => {
    const [reads, writes, changes] = BLOCKED_USES.map((blocks) => longest(blocksOf(held, blocks)));
    const found = [reads, writes, longest(rowBlocks(held)), changes];
    // A program that waits to read also waits to write, so weaker blocks are named only if they last longer.
    return found.filter(
      (each, index) =>
        each !== undefined &&
        found.slice(0, index).every((other) => (other?.milliseconds ?? -1) < each.milliseconds),
    );
  });
  return all.flatMap((each) => each ?? []).toSorted((a, b) => b.milliseconds - a.milliseconds);
}

/** Finds every time at which others would have waited for a table, not only the longest ones, in no order. */
export const allBlocks = (rehearsal: Rehearsal): BlockedTable[] =>
  locksByTable(rehearsal).flatMap((held) => [
    ...BLOCKED_USES.flatMap((blocks) => blocksOf(held, blocks)),
    ...rowBlocks(held),
  ]);

/** Returns the locks of each table that existed before the migration. */
function locksByTable({ locks, before }: Rehearsal): (readonly HeldLock[])[] {
  const existed = new Set(before.map(relationKey));
  const tables = Map.groupBy(
    locks.filter((lock) => existed.has(relationKey(lock))),
    relationKey,
  );
  return [...tables.values()];
}

/** @returns the last of those that are as long */
const longest = (blocks: readonly BlockedTable[]): BlockedTable | undefined =>
  blocks.toReversed().toSorted((a, b) => b.milliseconds - a.milliseconds)[0];

/** Returns when programs that write the same rows wait: until the transaction ends. */
const rowBlocks = (held: readonly HeldLock[]): BlockedTable[] =>
  held.flatMap(({ database, table, from, to, statement, rows = 0 }) =>
    rows === 0
      ? []
      : { database, table, blocks: 'writes', rows, from, milliseconds: to - from, statements: [statement] },
  );

/** Returns when a table had locks that block this use. Locks that overlap are one. @param held the locks of one table */
function blocksOf(held: readonly HeldLock[], blocks: BlockedUse): BlockedTable[] {
  const weakest = LOCK_MODES.indexOf(WEAKEST_BLOCKING_LOCK[blocks]);
  const blocking = held
    .filter(({ mode }) => LOCK_MODES.indexOf(mode) >= weakest)
    .toSorted((a, b) => a.from - b.from);
  const all: { database: string; table: string; from: number; to: number; statements: Set<number> }[] = [];
  for (const { database, table, from, to, statement } of blocking) {
    let current = all.at(-1);
    if (current === undefined || from > current.to)
      all.push((current = { database, table, from, to, statements: new Set() }));
    current.to = Math.max(current.to, to);
    current.statements.add(statement);
  }
  return all.map(({ to, statements, ...each }) => ({
    ...each,
    blocks,
    milliseconds: to - each.from,
    statements: [...statements],
  }));
}
