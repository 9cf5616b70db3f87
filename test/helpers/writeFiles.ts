import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './localService.ts';

/**
 * Writes files, by their paths below a folder.
 * @param folder the folder; by default, a temporary one
 * @returns the folder
 */
export function writeFiles(
  files: Readonly<Record<string, string | Buffer>>,
  folder = temporaryFolder(),
): string {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}
