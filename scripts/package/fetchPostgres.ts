/** Downloads the Postgres of a platform with npm, which checks it against the integrity in package-lock.json. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { projectRoot } from '../../test/workbench/folders.ts';
import { npm } from '../../test/workbench/install.ts';
import { installOnce } from '../../test/workbench/installOnce.ts';
import type { Platform } from './targets.ts';

interface LockEntry {
  readonly version: string;
  readonly integrity: string;
}

/** @returns the version of Postgres, such as 18.4 */
export async function lockedVersion(platform: Platform): Promise<string> {
  const { version } = await lockEntry(platform.npm);
  return /^\d+\.\d+/.exec(version)?.[0] ?? version;
}

/** @returns the npm package's folder `native` */
export async function fetchPostgres(platform: Platform): Promise<string> {
  const entry = await lockEntry(platform.npm);
  const name = `${path.basename(platform.npm)}-${entry.version}`;
  const cache = path.join(projectRoot, 'node_modules', '.cache', 'hosted-postgres', 'postgres', name);
  const folder = await installOnce(cache, (staging) => install(platform, entry, staging));
  return path.join(folder, 'node_modules', platform.npm, 'native');
}

async function lockEntry(name: string): Promise<LockEntry> {
  const lock = JSON.parse(await readFile(path.join(projectRoot, 'package-lock.json'), 'utf8'));
  const entry: LockEntry | undefined = lock.packages[`node_modules/${name}`];
  if (!entry?.integrity.startsWith('sha512-')) throw new Error(`package-lock.json has no SHA-512 of ${name}`);
  return entry;
}

/** Installs it into a separate project, whose lock file has the entry of ours. */
async function install(platform: Platform, { version, integrity }: LockEntry, folder: string): Promise<void> {
  const dependencies = { [platform.npm]: version };
  const packages = { '': { dependencies }, [`node_modules/${platform.npm}`]: { version, integrity } };
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  await writeFile(path.join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  // Its install script would create links, which a .vsix can't contain.
  const platformOptions = [`--os=${platform.system}`, `--cpu=${platform.architecture}`];
  await npm(['ci', '--ignore-scripts', '--prefer-offline', ...platformOptions], folder);
}
