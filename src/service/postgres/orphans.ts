/**
 * After a service that was killed, its servers live on. They are found by the pid files in the data directory, each
 * checked by the time its process started, and ended cleanly, so that what they hold is written out.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { isSameProcess } from '../processIdentity.ts';
import { postmasterPidFile, readPostmasterPid } from './postmasterPid.ts';
import type { Storage } from './storage.ts';

const POLL = 20;
/** How long each signal is given before the next, harder one. Milliseconds. */
const STEPS = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

/** Name of the file that PgBouncer writes its pid to. */
export const POOLER_PID_FILE = 'pgbouncer.pid';

const dataDirsOf = (root: string) =>
  ['branches', 'replicas'].flatMap((kind) =>
    subfolders(path.join(root, kind)).map((folder) => path.join(folder, 'data')),
  );

/** Whether a Postgres or a PgBouncer runs on this storage, whoever started it. */
export const hasProcesses = (root: string): boolean =>
  [
    ...dataDirsOf(root).map(readPostmasterPid),
    ...subfolders(path.join(root, 'poolers')).map(readPoolerPid),
  ].some((written) => written !== undefined && isSameProcess(written.pid, written.startedAt));

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
  const written = readPostmasterPid(dataDir);
  if (written === undefined) return false;
  const found = await end(written.pid, written.startedAt);
  // A pid that is somebody else's now would keep Postgres from starting.
  if (!found && readPostmasterPid(dataDir)?.pid === written.pid)
    rmSync(postmasterPidFile(dataDir), { force: true });
  return found;
}

async function endPooler(folder: string): Promise<boolean> {
  const written = readPoolerPid(folder);
  if (written === undefined) return false;
  const found = await end(written.pid, written.startedAt, 'SIGKILL');
  rmSync(path.join(folder, POOLER_PID_FILE), { force: true });
  return found;
}

/** PgBouncer's pid file holds the pid alone; it is written as the process starts, so its own time will do. */
function readPoolerPid(folder: string): { readonly pid: number; readonly startedAt: number } | undefined {
  const file = path.join(folder, POOLER_PID_FILE);
  if (!existsSync(file)) return undefined;
  return { pid: Number(readFileSync(file, 'utf8')), startedAt: statSync(file).mtimeMs / 1000 };
}

async function end(
  pid: number,
  startedAt: number,
  from: (typeof STEPS)[number][0] = 'SIGINT',
): Promise<boolean> {
  if (!isSameProcess(pid, startedAt)) return false;
  for (const [signal, limit] of STEPS.slice(STEPS.findIndex(([name]) => name === from))) {
    send(pid, signal);
    for (const until = Date.now() + limit; Date.now() < until;) {
      if (!isSameProcess(pid, startedAt)) return true;
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
