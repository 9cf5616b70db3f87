/** The folder `.hosted-postgres` of a project, which `npx hosted-postgres` and `hosted-postgres/test` share. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createFileSync } from '../base/replaceFile.ts';

export const OWN_FOLDER = '.hosted-postgres';

/** Name of the project of `hosted-postgres/test`; also its id, if the library started the service. */
export const TEST_PROJECT = 'hosted-postgres-tests';

/**
 * Creates a data directory. A service of root, which is `nobody`, must be able to pass through it.
 * @param isIgnored by Git, because it is inside a project
 */
export function openFolder(folder: string, isIgnored: boolean): void {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  if (isIgnored) createFileSync(path.join(folder, '.gitignore'), '*\n');
}

/** @returns the API key, the same at each start on a folder, so that other programs may keep it */
export function keyIn(folder: string): string {
  const file = path.join(folder, 'api-key');
  createFileSync(file, newKey());
  return readFileSync(file, 'utf8').trim();
}

export const newKey = (): string => randomBytes(24).toString('hex');
