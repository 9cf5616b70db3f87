/**
 * Records which data directory each folder in the system's folder belongs to, in a file of root next to the folder. When the
 * data directory is gone, the engine empties the folder and root removes it.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isSameProcess, startTime } from '../../base/processIdentity.ts';
import { isPrivate, type Account } from './account.ts';
import { fieldOf, hasFields } from './messages.ts';
import { readRootsFile } from './rootsFile.ts';

export const SYSTEM_FOLDER = '/var/lib/hosted-postgres';

interface Entry {
  readonly dataDirectory: string;
  /** The file system it was on. */
  readonly device: number;
  /** The service that used it last, and when it started, in seconds since 1970. */
  readonly pid: number;
  readonly startedAt: number;
}

const fileOf = (folder: string): string => `${folder}.json`;

/** Records that this service uses a folder for a data directory. */
export function register(folder: string, dataDirectory: string): void {
  if (path.dirname(folder) !== SYSTEM_FOLDER) return;
  const { pid } = process;
  const startedAt = startTime(pid) ?? performance.timeOrigin / 1000;
  const entry: Entry = { dataDirectory, device: statSync(dataDirectory).dev, pid, startedAt };
  writeFileSync(fileOf(folder), JSON.stringify(entry), { mode: 0o600 });
}

/** Whether a folder belongs to another data directory that is still there. */
export function isAnothers(folder: string, dataDirectory: string): boolean {
  const owner = readEntry(fileOf(folder))?.dataDirectory ?? ownerBefore(folder);
  return owner !== undefined && owner !== dataDirectory && !isGone(owner);
}

/** Folders without a data directory or a service. Servers may still run on them: the engine checks that. */
export function abandonedFolders(account: Account): string[] {
  const names = existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.join(SYSTEM_FOLDER, name.slice(0, -'.json'.length)))
    .filter((folder) => isPrivate(folder, account) && isAbandoned(folder));
}

/** Removes an abandoned folder that was emptied. */
export function removeEmptied(folder: string): void {
  rmdirSync(folder);
  rmSync(fileOf(folder));
}

function isAbandoned(folder: string): boolean {
  const entry = readEntry(fileOf(folder));
  if (entry === undefined || !isGone(entry.dataDirectory)) return false;
  // A file system that is not mounted now keeps its data directory.
  if (statSync(nearestFolder(entry.dataDirectory)).dev !== entry.device) return false;
  return !isSameProcess(entry.pid, entry.startedAt);
}

/** False also when the file cannot be checked. */
function isGone(file: string): boolean {
  try {
    statSync(file);
    return false;
  } catch (error) {
    return fieldOf(error, 'code') === 'ENOENT';
  }
}

const nearestFolder = (file: string): string => (existsSync(file) ? file : nearestFolder(path.dirname(file)));

function readEntry(file: string): Entry | undefined {
  try {
    const entry: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isEntry(entry) ? entry : undefined;
  } catch {
    return undefined; // No entry, or a damaged one.
  }
}

const isEntry = (value: unknown): value is Entry =>
  hasFields(value, { dataDirectory: 'string', device: 'number', pid: 'number', startedAt: 'number' }) &&
  path.isAbsolute(String(fieldOf(value, 'dataDirectory')));

/** Earlier versions kept the entry in the folder itself. */
const ownerBefore = (folder: string): string | undefined => {
  const entry = readRootsFile(path.join(folder, 'data-directory'));
  return isEntry(entry) ? entry.dataDirectory : undefined;
};
