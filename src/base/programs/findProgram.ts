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

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // The file is missing or not executable.
  }
}
