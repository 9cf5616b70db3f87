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
  /** How long others wait at most: from the first lock until the last of the overlapping locks is released. */
  readonly milliseconds: number;
  /** Indexes of the statements that took the locks. */
  readonly statements: readonly number[];
}

/**
 * Finds the tables that others would have waited for, the longest wait first. Tables that the migration has created are left out,
 * because no program uses them yet.
 */
export function blockedTables({ locks, before }: Rehearsal): BlockedTable[] {
  const existed = new Set(before.map(relationKey));
  const tables = Map.groupBy(
    locks.filter((lock) => existed.has(relationKey(lock))),
    relationKey,
  );
  const all = [...tables.values()].flatMap((held) => {
    const [reads, writes, changes] = BLOCKED_USES.map((blocks) => longestBlock(held, blocks));
    const found = [reads, writes, longestRowBlock(held), changes];
    // A program that waits to read also waits to write, so weaker blocks are named only if they last longer.
    return found.filter(
      (each, index) =>
        each !== undefined &&
        found.slice(0, index).every((other) => (other?.milliseconds ?? -1) < each.milliseconds),
    );
  });
  return all.flatMap((each) => each ?? []).toSorted((a, b) => b.milliseconds - a.milliseconds);
}

/** Finds the longest wait of programs that write the same rows. They wait until the transaction ends. */
function longestRowBlock(held: readonly HeldLock[]): BlockedTable | undefined {
  const all = held.flatMap(({ database, table, from, to, statement, rows = 0 }) =>
    rows === 0
      ? []
      : {
          database,
          table,
          blocks: 'writes' as const,
          rows,
          milliseconds: to - from,
          statements: [statement],
        },
  );
  return all.toSorted((a, b) => b.milliseconds - a.milliseconds)[0];
}

/** Finds the longest time for which a table had locks that block this use. @param held the locks of one table */
function longestBlock(held: readonly HeldLock[], blocks: BlockedUse): BlockedTable | undefined {
  const weakest = LOCK_MODES.indexOf(WEAKEST_BLOCKING_LOCK[blocks]);
  const blocking = held
    .filter(({ mode }) => LOCK_MODES.indexOf(mode) >= weakest)
    .toSorted((a, b) => a.from - b.from);
  let longest: BlockedTable | undefined;
  let current: { from: number; to: number; statements: Set<number> } | undefined;
  for (const { database, table, from, to, statement } of blocking) {
    if (current === undefined || from > current.to) current = { from, to, statements: new Set() };
    current.to = Math.max(current.to, to);
    current.statements.add(statement);
    const milliseconds = current.to - current.from;
    if (longest === undefined || milliseconds >= longest.milliseconds)
      longest = { database, table, blocks, milliseconds, statements: [...current.statements] };
  }
  return longest;
}
