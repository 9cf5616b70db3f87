/**
 * Postgres data that lies outside its data directory would outlive it for ever. Each such folder carries a mark of the data
 * directory it belongs to, and of the service that uses it; a folder whose data directory is gone goes at the next
 * start of any service. One without a mark, or in use, stays.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isSameProcess, startTime } from '../../base/processIdentity.ts';
import { hasProcesses } from './orphans.ts';
import type { Account } from './serverAccount.ts';

const MARK = 'data-directory';

interface Mark {
  readonly dataDirectory: string;
  /** The file system it was on. */
  readonly device: number;
  /** The service that used it last, and when it started, in seconds since 1970. */
  readonly pid: number;
  readonly startedAt: number;
}

/** Marks a folder as this service's, for a data directory. */
export function markFolder(folder: string, dataDirectory: string): void {
  const { pid } = process;
  const startedAt = startTime(pid) ?? performance.timeOrigin / 1000;
  const mark: Mark = { dataDirectory, device: statSync(dataDirectory).dev, pid, startedAt };
  writeFileSync(path.join(folder, MARK), JSON.stringify(mark), { mode: 0o600 });
}

/** Whether a folder carries the mark of another data directory that is still there. */
export function isAnothers(folder: string, dataDirectory: string): boolean {
  const mark = readMark(folder);
  return mark !== undefined && mark.dataDirectory !== dataDirectory && !isGone(mark.dataDirectory);
}

/** Removes the marked folders in `parent` that nothing needs any more. @param prefix of their names */
export function removeAbandoned(parent: string, prefix: string, account: Account): void {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const folder = path.join(parent, name);
    if (isPrivate(folder, account) && isAbandoned(folder)) rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether it is a folder that only the account (undefined: our own) and root can have written in. */
export function isPrivate(folder: string, account: Account | undefined): boolean {
  const stat = lstatSync(folder);
  return (
    stat.isDirectory() &&
    stat.uid === (account?.uid ?? process.getuid?.() ?? stat.uid) &&
    (stat.mode & 0o077) === 0
  );
}

function isAbandoned(folder: string): boolean {
  const mark = readMark(folder);
  if (mark === undefined || !isGone(mark.dataDirectory)) return false;
  // A file system that is not mounted now keeps its data directory.
  if (statSync(nearestFolder(mark.dataDirectory)).dev !== mark.device) return false;
  return !isSameProcess(mark.pid, mark.startedAt) && !hasProcesses(folder);
}

/** Known not to be there; what cannot be looked at may be. */
function isGone(file: string): boolean {
  try {
    statSync(file);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

const nearestFolder = (file: string): string => (existsSync(file) ? file : nearestFolder(path.dirname(file)));

function readMark(folder: string): Mark | undefined {
  let mark: unknown;
  try {
    mark = JSON.parse(readFileSync(path.join(folder, MARK), 'utf8'));
  } catch {
    return undefined; // None, or not one of ours.
  }
  return isMark(mark) ? mark : undefined;
}

const isMark = (value: unknown): value is Mark =>
  typeof value === 'object' &&
  value !== null &&
  'dataDirectory' in value &&
  typeof value.dataDirectory === 'string' &&
  path.isAbsolute(value.dataDirectory) &&
  ['device', 'pid', 'startedAt'].every((name) => Number.isFinite(Reflect.get(value, name)));
