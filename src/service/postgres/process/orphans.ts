/**
 * When a service is killed, its servers continue to run. The next service finds them by their pid files, which it checks
 * against the start time or the arguments of the process, and stops them cleanly, so that their data is written.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameProcess, canSignal } from '../../../base/processIdentity.ts';
import { postmasterPidFile, readPostmasterPid } from './postmaster.ts';
import type { Storage } from '../data/storage.ts';

const POLL = 20;
/** How long to wait after each signal. Milliseconds. */
const STEPS = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

/** How long killed backends may take to end. Milliseconds. */
const BACKEND_LIMIT = 5_000;

/** PgBouncer's pid file, and its configuration file, which is its argument. */
export const POOLER_PID_FILE = 'pgbouncer.pid';
export const POOLER_FILE = 'pgbouncer.ini';

const dataDirsOf = (root: string) =>
  ['branches', 'replicas'].flatMap((kind) =>
    subfolders(path.join(root, kind)).map((folder) => path.join(folder, 'data')),
  );

/** A process according to its pid file. */
interface PidRecord {
  readonly pid: number;
  readonly startedAt: number;
  /** An argument that no other process has. */
  readonly argument?: string;
}

/**
 * Whether the process that wrote a pid file still runs. The pid file may be forged or stale: a process of another user is not
 * a server of this service.
 */
const isServerRunning = ({ pid, startedAt, argument }: PidRecord): boolean =>
  canSignal(pid) && isSameProcess(pid, startedAt, argument);

/** Stops all processes that an earlier service left on this storage. @returns their number */
export async function stopOrphans({ root }: Pick<Storage, 'root'>): Promise<number> {
  const dataDirs = dataDirsOf(root);
  const ended = await Promise.all([
    ...subfolders(path.join(root, 'poolers')).map(stopPoolerProcess),
    ...dataDirs.map(stopOrphan),
  ]);
  return ended.filter(Boolean).length;
}

/** Stops a server of an earlier service on this data directory. @returns whether there was one */
export async function stopOrphan(dataDir: string): Promise<boolean> {
  const written = readServer(dataDir);
  if (written === undefined) return false;
  const found = await stopProcess(written);
  await killBackends(dataDir);
  // If another process has the pid now, Postgres would not start.
  if (!found && readPostmasterPid(dataDir)?.pid === written.pid)
    rmSync(postmasterPidFile(dataDir), { force: true });
  return found;
}

/**
 * A backend outlives a killed postmaster until its statement ends, and no server can start in the meantime. Its working
 * folder, which Linux shows, is the data directory. Killing it loses nothing: what it committed is in the write-ahead log.
 */
async function killBackends(dataDir: string): Promise<void> {
  if (process.platform !== 'linux') return;
  const folder = realpathSync(dataDir);
  for (const until = performance.now() + BACKEND_LIMIT; performance.now() < until;) {
    const pids = readdirSync('/proc').filter((name) => isBackendIn(folder, name));
    if (pids.length === 0) return;
    for (const pid of pids) send(Number(pid), 'SIGKILL');
    await sleep(POLL);
  }
}

/** Whether the process is a Postgres program in the folder, rather than a user's shell, for example. */
function isBackendIn(folder: string, pid: string): boolean {
  try {
    const program = path.basename(readlinkSync(`/proc/${pid}/exe`));
    return /^postgres( \(deleted\))?$/.test(program) && readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch {
    return false; // No process, or one of another user.
  }
}

async function stopPoolerProcess(folder: string): Promise<boolean> {
  const written = readPooler(folder);
  if (written === undefined) return false;
  const found = await stopProcess(written, 'SIGKILL');
  rmSync(path.join(folder, POOLER_PID_FILE), { force: true });
  return found;
}

function readServer(dataDir: string): PidRecord | undefined {
  const written = readPostmasterPid(dataDir);
  return written && { pid: written.pid, startedAt: written.startedAt, argument: dataDir };
}

/** PgBouncer's pid file contains only the pid. It is written at the start, so its own time is the start time. */
function readPooler(folder: string): PidRecord | undefined {
  const file = path.join(folder, POOLER_PID_FILE);
  if (!existsSync(file)) return undefined;
  const startedAt = statSync(file).mtimeMs / 1000;
  return { pid: Number(readFileSync(file, 'utf8')), startedAt, argument: path.join(folder, POOLER_FILE) };
}

/** Stops a process. @returns whether it was running */
async function stopProcess(written: PidRecord, from: (typeof STEPS)[number][0] = 'SIGINT'): Promise<boolean> {
  if (!isServerRunning(written)) return false;
  for (const [signal, limit] of STEPS.slice(STEPS.findIndex(([name]) => name === from))) {
    send(written.pid, signal);
    for (const until = performance.now() + limit; performance.now() < until;) {
      if (!isServerRunning(written)) return true;
      await sleep(POLL);
    }
  }
  return true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

const subfolders = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];
