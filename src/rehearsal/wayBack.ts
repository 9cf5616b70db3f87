/** Takes a rehearsed migration back, and finds what is different from the data and the schema as they were before. */
import { fieldsOf } from '../base/fieldsOf.ts';
import { splitObjects } from '../base/sql/dumpObjects.ts';
import { relationKey, type Rehearsal, type Relation } from '../api/records/rehearsal.ts';
import { withCopySession, type BranchCopy } from './branchCopy.ts';

/** The step that takes a migration back. */
export interface DownStep<Copy> {
  /** Takes back the whole migration, or one file of it. @returns the exit code */
  run(this: void, copy: Copy): Promise<number>;
  /** The tool that the step belongs to. Missing if a user has named the step for this migration. */
  readonly tool?: ToolStep | undefined;
}

interface ToolStep {
  /** Whether the step takes back one file at a time. */
  readonly isOneFile: boolean;
}

/**
 * Runs the down step. A tool that takes back one file at a time has a table with a row for each file that it has applied. So its step
 * runs again as long as it removes rows of a table that still has more than before the migration.
 * @returns the exit code
 */
export async function runDownSteps<Copy extends BranchCopy>(
  { before, after, locks }: Rehearsal,
  { original, branch }: Readonly<Record<'original' | 'branch', Copy>>,
  { run, tool }: DownStep<Copy>,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (tool?.isOneFile !== true) return run(branch);
  const [existed, written] = [new Set(before.map(relationKey)), writtenTables(locks)];
  let grown: GrownTable[] = [];
  for (const table of after.filter((each) => each.kind === 'r' && written.has(relationKey(each)))) {
    const old = existed.has(relationKey(table)) ? await countRows(original, table, signal) : 0;
    grown.push({ table, old, rows: await countRows(branch, table, signal) });
  }
  for (;;) {
    grown = grown.filter(({ old, rows }) => rows > old);
    const exitCode = await run(branch);
    if (exitCode !== 0) return exitCode;
    let isMore = false;
    for (const each of grown) {
      const rows = await countRows(branch, each.table, signal);
      isMore ||= rows < each.rows && rows > each.old;
      each.rows = rows;
    }
    if (!isMore) return 0;
  }
}

/** A table that the migration has added rows to. */
interface GrownTable {
  readonly table: Relation;
  readonly old: number;
  rows: number;
}

const writtenTables = (locks: Rehearsal['locks']): ReadonlySet<string> =>
  new Set(locks.filter(({ mode }) => mode === 'RowExclusiveLock').map(relationKey));

/** Counts the rows of a table. @returns 0 if the table is gone */
const countRows = async (
  copy: BranchCopy,
  { database, id }: Relation,
  signal: AbortSignal | undefined,
): Promise<number> =>
  withCopySession(copy, { database, options: '-c row_security=off' }, signal, async (client) => {
    // The way back may also have given the table its former name.
    const { rows: named } = await client.query<{ name: string }>(
      'select oid::regclass::text as name from pg_class where oid::int8 = $1',
      [id],
    );
    if (named[0] === undefined) return 0;
    const { rows } = await client.query<{ count: string }>(`select count(*) from only ${named[0].name}`);
    return Number(rows[0]?.count);
  });

/**
 * Drops the tables that didn't exist before the migration, so that a comparison finds only what else is different. With them go the
 * objects that depend on them, which also didn't exist before, or have changed since.
 * @param after the relations after the way back
 * @returns a line for each dropped table
 */
export async function dropNewTables<Copy extends BranchCopy>(
  branch: Copy,
  { before, after }: Pick<Rehearsal, 'before' | 'after'>,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const known = new Set(before.flatMap((each) => [relationKey(each), nameKey(each)]));
  const isNew = (each: Relation) => !known.has(relationKey(each)) && !known.has(nameKey(each));
  const dropped: string[] = [];
  for (const table of after.filter((each) => 'rp'.includes(each.kind) && isNew(each))) {
    const drop = `drop table if exists ${table.name} cascade`;
    const isDropped = await withCopySession(
      branch,
      { database: table.database, options: '' },
      signal,
      async (client) =>
        client.query(drop).then(
          () => true,
          // If the table can't be dropped, the comparison of the schemas lists each of its lines as left over.
          (error: unknown) => rethrowUnless(error, INSUFFICIENT_PRIVILEGE),
        ),
    );
    if (isDropped) dropped.push(`CREATE TABLE ${table.name}`);
  }
  return dropped;
}

/** The SQLSTATE of dropping a table that the owner has given away. */
const INSUFFICIENT_PRIVILEGE = '42501';

function rethrowUnless(error: unknown, code: string): false {
  if (fieldsOf(error)['code'] !== code) throw error;
  return false;
}

const nameKey = ({ database, name }: Relation): string => JSON.stringify([database, name]);

/**
 * Returns the part of a rehearsal that is about the way back.
 * @param both the rehearsal of the migration and its way back
 * @param before the relations before the way back
 * @param own the indexes of the statements of the way back, without those that count rows in between
 */
export function rehearsalOfWayBack(
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

/** The lines that are different in two schemas. */
export interface LinesOfSchemaDiff {
  /** Lines of the schema that aren't there any longer. */
  readonly forgotten: readonly string[];
  /** Lines that weren't there before, such as a tool's own table after its first use. */
  readonly left: readonly string[];
}

/**
 * Compares two schemas that pg_dump has written, each object with that of the same name. A column in another place is no difference,
 * because a column that is added again comes last.
 */
export function compareDumps(before: string, after: string): LinesOfSchemaDiff {
  const [old, now] = [splitObjects(before), splitObjects(after)];
  const all = [...new Set([...old.keys(), ...now.keys()])].map((name) => ({
    isTable: TABLE.test(name),
    old: old.get(name) ?? '',
    now: now.get(name) ?? '',
  }));
  return {
    forgotten: all.flatMap((each) => linesWithout(each.old, each.now, each)),
    left: all.flatMap((each) => linesWithout(each.now, each.old, { isTable: true })),
  };
}

/** Matches the name of a table's own definition in a dump. */
const TABLE = /; Type: TABLE;/;

/** Returns the lines of a text that another one lacks. If only the order differs, returns the first line, except for tables. */
function linesWithout(text: string, other: string, { isTable }: { readonly isTable: boolean }): string[] {
  const left = new Map<string, number>();
  for (const line of dumpLines(other)) left.set(line, (left.get(line) ?? 0) + 1);
  const lines = dumpLines(text);
  const missing = lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
  const isReordered = !isTable && missing.length === 0 && lines.length > 0 && text !== other;
  return isReordered && lines.length === dumpLines(other).length ? lines.slice(0, 1) : missing;
}

const dumpLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => line !== '');
