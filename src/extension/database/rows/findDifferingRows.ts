/** Merges the rows of two sides, which arrive in the order of the hashes of their keys. */
import type Client from 'pg/lib/client.js';
import { FETCH_ROWS, declareRowCursor, type ComparedSource, type RangeMask } from './comparisonSql.ts';
import type { CellText } from './formatRows.ts';

export type BeforeAndAfter<T> = readonly [before: T, after: T];

/** A row that only one side has, or one side of a changed row. */
export interface DifferingRow {
  readonly kind: 'added' | 'changed' | 'deleted';
  readonly cells: readonly CellText[];
}

/** How many rows differ, and as many of them as can be shown. */
export interface RowDifference {
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
  /** The deleted rows, and the changed ones with their old values, in the order of the table's key, as many as can be shown. */
  readonly before: readonly DifferingRow[];
  /** The added rows, and the changed ones with their new values. */
  readonly after: readonly DifferingRow[];
  readonly hasMore: boolean;
}

export const NO_DIFFERENCE: RowDifference = {
  added: 0,
  changed: 0,
  deleted: 0,
  before: [],
  after: [],
  hasMore: false,
};

/** The most rows of a side that are shown. */
const MAX_SHOWN = 20_000;
/** The characters of both sides after which no further row is shown. */
const MAX_TEXT = 8_000_000;

/** @param ranges those whose rows are read @throws {Error} of Postgres */
export async function findDifferingRows(
  clients: BeforeAndAfter<Client>,
  sources: BeforeAndAfter<ComparedSource>,
  ranges: RangeMask,
): Promise<RowDifference> {
  await Promise.all([
    clients[0].query(declareRowCursor(sources[0], ranges)),
    clients[1].query(declareRowCursor(sources[1], ranges)),
  ]);
  const [lefts, rights] = [readGroups(clients[0]), readGroups(clients[1])];
  const merger = new Merger(sources[1].key.length > 0);
  let [left, right] = await Promise.all([lefts.next(), rights.next()]);
  while (left.done !== true || right.done !== true) {
    const isLeft = left.done !== true && (right.done === true || left.value.key <= right.value.key);
    const isRight = right.done !== true && (left.done === true || right.value.key <= left.value.key);
    merger.add(isLeft ? left.value?.rows : undefined, isRight ? right.value?.rows : undefined);
    if (isLeft) left = await lefts.next();
    if (isRight) right = await rights.next();
  }
  return merger.result();
}

/** Equal rows, of which a table without a key may have many. */
interface Row {
  readonly place: number;
  readonly cells: readonly CellText[];
  count: number;
}

/** The rows whose keys have the same hash, by their own hashes: one row, or several without a key. */
interface Group {
  readonly key: bigint;
  readonly rows: Map<string, Row>;
}

async function* readGroups(client: Client): AsyncGenerator<Group, undefined> {
  const fetch = () => {
    // Values stay the texts that the statement returns.
    const types = { getTypeParser: () => (text: string) => text };
    const next = client.query<CellText[]>({ text: FETCH_ROWS, rowMode: 'array', types });
    // The promise is awaited later, or not at all if the other side fails.
    next.catch(() => undefined);
    return next;
  };
  let group: Group | undefined;
  for (let next = fetch(); ;) {
    const { rows } = await next;
    if (rows.length === 0) break;
    next = fetch();
    for (const [k, h, place, ...cells] of rows) {
      const key = BigInt(k ?? 0);
      if (group?.key !== key) {
        if (group !== undefined) yield group;
        group = { key, rows: new Map() };
      }
      const same = group.rows.get(h ?? '');
      if (same === undefined) group.rows.set(h ?? '', { place: Number(place), cells, count: 1 });
      else same.count += 1;
    }
  }
  if (group !== undefined) yield group;
  return undefined;
}

interface Placed extends DifferingRow {
  readonly place: number;
}

const NO_ROWS: ReadonlyMap<string, Row> = new Map();

class Merger {
  readonly #hasKey: boolean;
  readonly #counts = { added: 0, changed: 0, deleted: 0 };
  readonly #before: Placed[] = [];
  readonly #after: Placed[] = [];
  #textLeft = MAX_TEXT;
  #hasMore = false;

  constructor(hasKey: boolean) {
    this.#hasKey = hasKey;
  }

  /**
   * Adds the rows of one key on both sides to the result. Without a primary key, the whole row is the key, so all rows of one key
   * are equal.
   */
  add(before: ReadonlyMap<string, Row> = NO_ROWS, after: ReadonlyMap<string, Row> = NO_ROWS): void {
    const [gone, come] = [rowsMissingIn(before, after), rowsMissingIn(after, before)];
    const [deleted, added] = [countRows(gone), countRows(come)];
    // With a primary key, a row that is gone and one that has come under the same key are one changed row.
    const changed = this.#hasKey ? Math.min(deleted, added) : 0;
    this.#counts.added += added - changed;
    this.#counts.deleted += deleted - changed;
    this.#counts.changed += changed;
    this.#showAll(this.#before, gone, changed > 0 ? 'changed' : 'deleted');
    this.#showAll(this.#after, come, changed > 0 ? 'changed' : 'added');
  }

  #showAll(shown: Placed[], rows: readonly Row[], kind: DifferingRow['kind']): void {
    for (const row of rows)
      for (let count = Math.min(row.count, MAX_SHOWN + 1); count > 0; count -= 1)
        this.#show(shown, row, kind);
  }

  #show(shown: Placed[], { place, cells }: Row, kind: DifferingRow['kind']): void {
    if (shown.length >= MAX_SHOWN || this.#textLeft <= 0) {
      this.#hasMore = true;
      return;
    }
    this.#textLeft -= cells.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
    shown.push({ place, cells, kind });
  }

  result(): RowDifference {
    const sortedByPlace = (rows: readonly Placed[]) => rows.toSorted((a, b) => a.place - b.place);
    return {
      ...this.#counts,
      before: sortedByPlace(this.#before),
      after: sortedByPlace(this.#after),
      hasMore: this.#hasMore,
    };
  }
}

/** Returns the rows that the other side doesn't have, or not so often. */
const rowsMissingIn = (rows: ReadonlyMap<string, Row>, others: ReadonlyMap<string, Row>): readonly Row[] =>
  [...rows]
    .map(([hash, row]) => ({ ...row, count: row.count - (others.get(hash)?.count ?? 0) }))
    .filter(({ count }) => count > 0);

const countRows = (rows: readonly Row[]): number => rows.reduce((sum, { count }) => sum + count, 0);
