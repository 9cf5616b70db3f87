/**
 * After a service that was killed, its servers live on. They are found by the pid files in the data directory, each
 * checked by its process's start time or arguments, and ended cleanly, so that what they hold is written out.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { isSameProcess } from '../../../base/processIdentity.ts';
import { postmasterPidFile, readPostmasterPid } from './postmasterPid.ts';
import type { Storage } from '../data/storage.ts';

const POLL = 20;
/** How long each signal is given before the next, harder one. Milliseconds. */
const STEPS = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

/** Name of the file that PgBouncer writes its pid to, and of its configuration, which it is started with. */
export const POOLER_PID_FILE = 'pgbouncer.pid';
export const POOLER_FILE = 'pgbouncer.ini';

const dataDirsOf = (root: string) =>
  ['branches', 'replicas'].flatMap((kind) =>
    subfolders(path.join(root, kind)).map((folder) => path.join(folder, 'data')),
  );

/** A process as its pid file tells it. */
export interface Written {
  readonly pid: number;
  readonly startedAt: number;
  /** What it was started with and nothing else was. */
  readonly argument?: string;
}

const isRunning = ({ pid, startedAt, argument }: Written): boolean =>
  maySignal(pid) && isSameProcess(pid, startedAt, argument);

/** The pid file may be forged or stale. A process of another user is not one of our servers. */
function maySignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether a Postgres or a PgBouncer runs on this storage, whoever started it. */
export const hasProcesses = (root: string): boolean =>
  [...dataDirsOf(root).map(readServer), ...subfolders(path.join(root, 'poolers')).map(readPooler)].some(
    (written) => written !== undefined && isRunning(written),
  );

/** Ends every process that an earlier service left on this storage. @returns how many there were */
export async function endOrphans(storage: Storage): Promise<number> {
  const dataDirs = dataDirsOf(storage.root);
  const ended = await Promise.all([
    ...subfolders(path.join(storage.root, 'poolers')).map(endPooler),
    ...dataDirs.map(endServer),
  ]);
  return ended.filter(Boolean).length;
}

/** Ends a server that runs on this data directory without being our child. @returns whether there was one */
export async function endServer(dataDir: string): Promise<boolean> {
  const written = readServer(dataDir);
  if (written === undefined) return false;
  const found = await endProcess(written);
  // A pid that is somebody else's now would keep Postgres from starting.
  if (!found && readPostmasterPid(dataDir)?.pid === written.pid)
    rmSync(postmasterPidFile(dataDir), { force: true });
  return found;
}

async function endPooler(folder: string): Promise<boolean> {
  const written = readPooler(folder);
  if (written === undefined) return false;
  const found = await endProcess(written, 'SIGKILL');
  rmSync(path.join(folder, POOLER_PID_FILE), { force: true });
  return found;
}

function readServer(dataDir: string): Written | undefined {
  const written = readPostmasterPid(dataDir);
  return written && { pid: written.pid, startedAt: written.startedAt, argument: dataDir };
}

/** PgBouncer's pid file holds the pid alone; it is written as the process starts, so its own time will do. */
function readPooler(folder: string): Written | undefined {
  const file = path.join(folder, POOLER_PID_FILE);
  if (!existsSync(file)) return undefined;
  const startedAt = statSync(file).mtimeMs / 1000;
  return { pid: Number(readFileSync(file, 'utf8')), startedAt, argument: path.join(folder, POOLER_FILE) };
}

/** Ends a process unless it is gone. @returns whether it was there */
export async function endProcess(
  written: Written,
  from: (typeof STEPS)[number][0] = 'SIGINT',
): Promise<boolean> {
  if (!isRunning(written)) return false;
  for (const [signal, limit] of STEPS.slice(STEPS.findIndex(([name]) => name === from))) {
    send(written.pid, signal);
    for (const until = performance.now() + limit; performance.now() < until;) {
      if (!isRunning(written)) return true;
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }
  return true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself just now.
  }
}

const subfolders = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];
