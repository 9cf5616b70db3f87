/** Takes a rehearsed migration back, and finds what is different from the data and the schema as they were before. */
import { relationKey, type Rehearsal, type Relation } from '../api/records/rehearsal.ts';
import { onCopy, type BranchCopy } from './branchCopy.ts';

export interface DownStep<Copy> {
  /** Takes back the whole migration, or one file of it. @returns the exit code */
  run(this: void, copy: Copy): Promise<number>;
  /** Whether it takes back one file at a time. */
  readonly isOneFile: boolean;
}

/**
 * Runs the down step. A tool that takes back one file at a time has applied as many as its own table of them has got rows, so it runs
 * again as long as it removes rows of a table that still has more than before.
 * @returns the exit code
 */
export async function takeBack<Copy extends BranchCopy>(
  { after, locks }: Rehearsal,
  { original, branch }: Readonly<Record<'original' | 'branch', Copy>>,
  { run, isOneFile }: DownStep<Copy>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const written = new Set(locks.filter(({ mode }) => mode === 'RowExclusiveLock').map(relationKey));
  const tables = after.filter((each) => each.kind === 'r' && written.has(relationKey(each)));
  const rowsIn = async (copy: Copy) => Promise.all(tables.map(async (each) => countRows(copy, each, signal)));
  const before = isOneFile ? await rowsIn(original) : [];
  for (let rows = isOneFile ? await rowsIn(branch) : []; ;) {
    const exitCode = await run(branch);
    if (exitCode !== 0 || !isOneFile) return exitCode;
    const left = await rowsIn(branch);
    if (!left.some((count, at) => count < (rows[at] ?? 0) && count > (before[at] ?? 0))) return 0;
    rows = left;
  }
}

/** @returns 0 if there is no such table */
const countRows = async (
  copy: BranchCopy,
  { database, name }: Relation,
  signal: AbortSignal | undefined,
): Promise<number> =>
  onCopy(copy, { database, options: '-c row_security=off' }, signal, async (client) => {
    const { rows } = await client.query<{ count: string }>(`select count(*) from only ${name}`);
    return Number(rows[0]?.count);
  }).catch(() => 0);

/** The part of a rehearsal that the way back was: its statements, without those that count rows in between. */
export function rehearsalOf(
  both: Rehearsal,
  before: readonly Relation[],
  own: ReadonlySet<number>,
): Rehearsal {
  const all = [...own];
  const at = new Map(all.map((statement, index) => [statement, index]));
  return {
    ...both,
    before,
    statements: all.flatMap((index) => both.statements[index] ?? []),
    locks: both.locks.flatMap((lock) => {
      const statement = at.get(lock.statement);
      return statement === undefined ? [] : [{ ...lock, statement }];
    }),
  };
}

export interface SchemaLines {
  /** Lines of the schema that aren't there any longer. */
  readonly forgotten: readonly string[];
  /** Lines that weren't there before, such as a tool's own table after its first use. */
  readonly left: readonly string[];
}

/** @param diff of schemas as pg_dump writes them. The order of columns doesn't count: a column that is added again is the last one. */
export function schemaLines(diff: string): SchemaLines {
  const balance = new Map<string, number>();
  // The first two lines name the schemas.
  for (const line of diff.split('\n').slice(2)) {
    const text = line.slice(1).trim().replace(/,$/, '');
    const sign = { '-': -1, '+': 1 }[line[0] ?? ''];
    if (sign !== undefined && text !== '' && !text.startsWith('--'))
      balance.set(text, (balance.get(text) ?? 0) + sign);
  }
  const linesOf = (isWanted: (count: number) => boolean) =>
    [...balance].filter(([, count]) => isWanted(count)).map(([text]) => text);
  return { forgotten: linesOf((count) => count < 0), left: linesOf((count) => count > 0) };
}
