/**
 * Finds folders in the system's folder whose data directory is gone and on which nothing was started for a month. A file of
 * root next to each folder records its data directory. The engine empties a stale folder, then root removes it.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isPrivate, type UnixAccount } from './unixAccount.ts';
import { fieldOf, hasFields } from './peer.ts';

/** Milliseconds after the last start on a folder. */
const KEPT_FOR = 30 * 24 * 60 * 60_000;

export const SYSTEM_FOLDER = '/var/lib/hosted-postgres';

interface Entry {
  readonly dataDirectory: string;
  /** The file system it was on. */
  readonly device: number;
}

const fileOf = (folder: string): string => `${folder}.json`;

export function recordOwner(folder: string, dataDirectory: string): void {
  const entry: Entry = { dataDirectory, device: statSync(dataDirectory).dev };
  writeFileSync(fileOf(folder), JSON.stringify(entry), { mode: 0o600 });
}

/** Whether a folder belongs to another data directory that still exists. */
export function isAnothers(folder: string, dataDirectory: string): boolean {
  const owner = readEntry(folder)?.dataDirectory;
  return owner !== undefined && owner !== dataDirectory && !isGone(owner);
}

/** Folders without a data directory. The engine checks whether processes still use them. */
export function staleFolders(account: UnixAccount): string[] {
  const names = existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.join(SYSTEM_FOLDER, name.slice(0, -'.json'.length)))
    .filter((folder) => isPrivate(folder, account) && isStale(folder));
}

/** Removes a stale folder that was emptied. */
export function removeEmptied(folder: string): void {
  rmdirSync(folder);
  rmSync(fileOf(folder));
}

function isStale(folder: string): boolean {
  const entry = readEntry(folder);
  if (entry === undefined || !isGone(entry.dataDirectory)) return false;
  // The data directory may be on a file system that is not mounted now.
  if (statSync(nearestFolder(entry.dataDirectory)).dev !== entry.device) return false;
  // It may have been moved: then the next service on it claims the folder.
  return Date.now() - statSync(fileOf(folder)).mtimeMs > KEPT_FOR;
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

function readEntry(folder: string): Entry | undefined {
  try {
    const entry: unknown = JSON.parse(readFileSync(fileOf(folder), 'utf8'));
    return isEntry(entry) ? entry : undefined;
  } catch {
    return undefined; // No entry, or a damaged one.
  }
}

const isEntry = (value: unknown): value is Entry =>
  hasFields(value, { dataDirectory: 'string', device: 'number' }) &&
  path.isAbsolute(String(fieldOf(value, 'dataDirectory')));
