/** Finds the part of a file that migrates. Some tools have the part that undoes the migration in the same file. */
/** Says what is wrong with a file. */
export class PartError extends Error {}

/** Keeps the lines of the part, and empties all others, so that the numbers of lines stay. @throws {PartError} */
export type UpPart = (text: string) => string;

/**
 * Makes a function that returns the part of a migration that is run, for tools whose markers of the `up` and `down` parts are
 * whole lines.
 * @param up undefined if the part begins at the start of the file
 */
export const upPartByLine =
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

const directionComment = (direction: string): RegExp =>
  new RegExp(`^[ \\t]*--[ \\t-]*${direction}[ \\t]+migration`, 'im');

/** Returns the part that node-pg-migrate runs, by the first comment for each direction. Without one for `up`, it is the whole file. */
export const nodePgMigratePart: UpPart = (text) => {
  const up = text.search(directionComment('up'));
  const down = text.search(directionComment('down'));
  if (up === -1) return text;
  const blankLines = (part: string): string => part.replaceAll(/[^\n]+/g, '');
  return down < up
    ? blankLines(text.slice(0, up)) + text.slice(up)
    : blankLines(text.slice(0, up)) + text.slice(up, down);
};
