/**
 * Finds folders in the system's folder whose data directory is gone and on which nothing was started for a month. A file of
 * root next to each folder records its data directory. The service empties a stale folder as `nobody`, and the next start
 * removes it as root.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isRunningSync, ownIdentity, type ProcessIdentity } from '../../base/processIdentity.ts';
import { systemReason } from '../core/errors.ts';
import { isPrivate, type UnixAccount } from './unixAccount.ts';

/** Milliseconds after the last start on a folder. */
const KEPT_FOR = 30 * 24 * 60 * 60_000;

export const SYSTEM_FOLDER = '/var/lib/hosted-postgres';

interface Owner {
  readonly dataDirectory: string;
  /** The file system it was on. */
  readonly device: number;
  /** The last service on the folder. */
  readonly service: ProcessIdentity;
}

const fileOf = (folder: string): string => `${folder}.json`;

export function recordOwner(folder: string, dataDirectory: string): void {
  const owner: Owner = { dataDirectory, device: statSync(dataDirectory).dev, service: ownIdentity() };
  writeFileSync(fileOf(folder), JSON.stringify(owner), { mode: 0o600 });
}

/** Whether a folder belongs to another data directory that still exists. */
export function belongsToOtherDataDirectory(folder: string, dataDirectory: string): boolean {
  const owner = readOwner(folder)?.dataDirectory;
  return owner !== undefined && owner !== dataDirectory && !isGone(owner);
}

/** Folders without a data directory and without a service. */
export const staleFolders = (account: UnixAccount): string[] =>
  recordedFolders().filter((folder) => isPrivate(folder, account) && isStale(folder));

/** The folders in the system's folder that {@link recordOwner} knows. */
export function recordedFolders(): string[] {
  const names = existsSync(SYSTEM_FOLDER) ? readdirSync(SYSTEM_FOLDER) : [];
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.join(SYSTEM_FOLDER, name.slice(0, -'.json'.length)));
}

/** @returns whether the folder was empty */
export function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
  } catch {
    return false;
  }
  rmSync(fileOf(folder), { force: true });
  return true;
}

/** Returns the folder that `recordOwner` recorded, unless the service that did so still runs. */
export function ownerWithoutService(folder: string): string | undefined {
  const owner = readOwner(folder);
  return owner === undefined || isRunningSync(owner.service) ? undefined : owner.dataDirectory;
}

export function removeRecorded(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  rmSync(fileOf(folder), { force: true });
}

function isStale(folder: string): boolean {
  const owner = readOwner(folder);
  if (owner === undefined || !isGone(owner.dataDirectory) || isRunningSync(owner.service)) return false;
  // The data directory may be on a file system that is not mounted now.
  if (statSync(nearestFolder(owner.dataDirectory)).dev !== owner.device) return false;
  // It may have been moved: then the next service on it claims the folder.
  return Date.now() - statSync(fileOf(folder)).mtimeMs > KEPT_FOR;
}

/** False also when the file cannot be checked. */
function isGone(file: string): boolean {
  try {
    statSync(file);
    return false;
  } catch (error) {
    return systemReason(error) === 'ENOENT';
  }
}

const nearestFolder = (file: string): string => (existsSync(file) ? file : nearestFolder(path.dirname(file)));

/** Undefined also for a damaged file. */
function readOwner(folder: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(folder), 'utf8'));
    return isOwner(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Only root can write the file, so its other fields are as `recordOwner` wrote them. */
const isOwner = (value: unknown): value is Owner =>
  typeof value === 'object' &&
  value !== null &&
  'dataDirectory' in value &&
  path.isAbsolute(String(value.dataDirectory)) &&
  'service' in value &&
  'device' in value;
