/** Paths that Postgres can read on Windows. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { windowsProgram } from '../../../base/programs/windowsProgram.ts';

// oxlint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Whether initdb fails with this path: on Windows, if it isn't ASCII. */
export const isUnreadableForInitdb = (file: string): boolean =>
  process.platform === 'win32' && !isAscii(file);

/**
 * Returns a path that programs of Postgres can read. Programs of Postgres on Windows don't know letters that its old character set
 * lacks, and initdb fails with any that isn't ASCII, such as those of `C:\Users\Jürgen`. Windows has a second, short name of such a
 * folder, unless that was turned off.
 * @returns the path by short names, or unchanged
 */
export function asciiPath(folder: string, findShort = shortPath): string {
  if (!isUnreadableForInitdb(folder)) return folder;
  const short = findShort(folder).trim();
  return path.win32.isAbsolute(short) && isAscii(short) ? short : folder;
}

/** Returns Windows's short name of the folder, or ''. The folder is in a variable, so that nothing in its name is a command. */
function shortPath(folder: string): string {
  const { stdout } = spawnSync(
    windowsProgram('cmd.exe'),
    ['/d', '/c', 'for %I in ("%FOLDER%") do @echo %~sI'],
    {
      encoding: 'latin1',
      env: { FOLDER: folder },
      windowsHide: true,
      windowsVerbatimArguments: true,
    },
  );
  return stdout ?? '';
}
