/** The part of a file that migrates, if its tool has the part that undoes it in the same file. */
import { ScriptError, SqlScript } from '../../base/sql/sqlScript.ts';

/** Says what is wrong with a file. */
export class PartError extends Error {}

/** Keeps the lines of the part, and empties all others, so that the numbers of lines stay. @throws {PartError} */
export type UpPart = (text: string) => string;

/** For tools that read line by line. Without `up`, the file begins with what runs. */
export const partsByLine =
  (up: RegExp | undefined, down: RegExp): UpPart =>
  (text) => {
    let part = up === undefined ? 'up' : 'none';
    return text
      .split('\n')
      .map((line) => {
        if (up?.test(line) === true) part = 'up';
        else if (down.test(line)) part = 'down';
        else if (part === 'up') return line;
        else if (part === 'none' && !/^\s*(?:--|#|$)/.test(line))
          throw new PartError('has SQL before the line that begins its migration');
        return '';
      })
      .join('\n');
  };

const beginning = (direction: string): RegExp => new RegExp(`^\\s*--[\\s-]*${direction}\\s+migration`, 'im');

/** As node-pg-migrate reads it: the first comment for each direction, and all of a file that has none for `up`. */
export const nodePgMigratePart: UpPart = (text) => {
  const up = text.search(beginning('up'));
  const down = text.search(beginning('down'));
  if (up === -1) return text;
  const lines = (part: string): string => part.replaceAll(/[^\n]+/g, '');
  return down < up
    ? lines(text.slice(0, up)) + text.slice(up)
    : lines(text.slice(0, up)) + text.slice(up, down);
};

/** What tools call the part that undoes a migration. */
const UNDO = /\b(?:downs?|undo|rollback|revert)\b/i;

/**
 * Finds a comment between two statements that says nothing but that what follows undoes the migration, in at most three words, such
 * as `-- //@UNDO`.
 * @returns its line
 */
export function undoLine(text: string): string | undefined {
  const script = new SqlScript(text);
  let end = 0;
  try {
    for (let next = script.next(); next !== undefined; next = script.next()) {
      const line = text
        .slice(end, next.start)
        .split('\n')
        .find((each) => /^\s*--/.test(each) && UNDO.test(each) && (each.match(/[a-z]+/gi) ?? []).length <= 3);
      if (line !== undefined) return line.trim();
      end = next.start + next.text.length;
    }
  } catch (error) {
    // A command of psql: running the file reports it.
    if (!(error instanceof ScriptError)) throw error;
  }
  return undefined;
}
