import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Finds a program in these folders, then in PATH. Skips relative folders, because they depend on the working folder. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  return [...folders, ...(process.env['PATH'] ?? '').split(path.delimiter)]
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, file))
    .find(isExecutable);
}

/** A program of Windows. The path is absolute, because Windows searches the working folder before PATH. */
export const windowsProgram = (...names: readonly string[]): string =>
  path.win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', ...names);

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // Missing or not executable.
  }
}
