/** Finds where in the files of a migration the statements are that were run. */
import type { RehearsedStatement } from '../api/records/rehearsal.ts';
import { readStatements } from '../base/sql/readStatements.ts';
import type { SkippedStatement } from '../migrations/publicService.ts';

/** A place in a file, as an editor counts: from 0. */
export interface ScriptPosition {
  readonly line: number;
  readonly character: number;
}

/** A file of the migration, with its text. */
export interface MigrationFile {
  readonly file: string;
  /** A character for each byte. */
  readonly text: string;
}

/** Finds the statements that are in a file, in its order. @returns the beginning and end of each */
export function statementRanges(
  { text }: Pick<MigrationFile, 'text'>,
  statements: readonly RehearsedStatement[],
): ReadonlyMap<RehearsedStatement, readonly [start: ScriptPosition, end: ScriptPosition]> {
  // An editor counts the characters of the decoded text, and the service has seen decoded statements.
  const script = Buffer.from(text, 'latin1').toString();
  const ranges = new Map<RehearsedStatement, readonly [ScriptPosition, ScriptPosition]>();
  let next = 0;
  for (const part of readStatements(script)) {
    if (part.kind === 'command') continue;
    const index = statements.findIndex((each, at) => at >= next && isSameText(each.text, part.text));
    const statement = statements[index];
    if (statement === undefined) continue;
    ranges.set(statement, [placeOfOffset(script, part.start), placeOfOffset(script, part.end)]);
    next = index + 1;
  }
  return ranges;
}

/** How many characters of a long statement the service keeps at least. */
const KEPT_TEXT = 10_000;

/** Whether this may be only the beginning of a statement: of a long one, the service keeps no more. */
export const isMaybeCut = (seen: string): boolean => seen.length > KEPT_TEXT;

/** Whether the statement of the file was seen. */
const isSameText = (seen: string, text: string): boolean =>
  seen === text || (isMaybeCut(seen) && text.startsWith(seen));

function placeOfOffset(text: string, position: number): ScriptPosition {
  const lines = text.slice(0, position).split('\n');
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

/** Marks the statements that were skipped. */
export const withSkips = (
  statements: readonly RehearsedStatement[],
  skipped: readonly SkippedStatement[],
): RehearsedStatement[] =>
  statements.map((each) =>
    each.error !== undefined && skipped.some(({ text }) => text === each.text)
      ? { ...each, isSkipped: true }
      : each,
  );

/** Returns the statements, each with its place if it is from one of the files, which run in their order. */
export function withPlaces(
  statements: readonly RehearsedStatement[],
  files: readonly MigrationFile[],
): RehearsedStatement[] {
  const starts = new Map<
    RehearsedStatement,
    { readonly file: string; readonly line: number; from: number }
  >();
  for (const { file, text } of files) {
    const others = statements.filter((each) => !starts.has(each));
    for (const [statement, [{ line }]] of statementRanges({ text }, others))
      starts.set(statement, { file, line, from: 0 });
    // Some tools send a whole file at once, and may add something to it.
    const script = Buffer.from(text, 'latin1').toString();
    const whole = script.trim();
    for (const statement of others) {
      const from = whole === '' || starts.has(statement) ? -1 : statement.text.indexOf(whole);
      if (from !== -1)
        starts.set(statement, { file, line: placeOfOffset(script, script.search(/\S/)).line, from });
    }
  }
  return statements.map((each) => {
    const start = starts.get(each);
    if (start === undefined) return each;
    const lines = each.text
      .slice(start.from, Math.max(start.from, (each.error?.position ?? 1) - 1))
      .split('\n');
    return { ...each, place: { file: start.file, line: start.line + lines.length } };
  });
}
