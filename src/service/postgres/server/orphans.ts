/**
 * When a service is killed, its servers continue to run. The next service finds them by their pid files, which it checks
 * against the start time or the arguments of the process, and stops them cleanly, so that their data is written.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canSignal } from '../../../base/programs/isAlive.ts';
import { isSameProcess } from '../../../base/processIdentity.ts';
import { POSTMASTER_STOP_STEPS } from '../../../localService/endLimits.ts';
import { postmasterPidFile, readPostmasterPid } from './postmaster.ts';
import { sendSignal, signalServer, type StopSteps } from './serverProcess.ts';
import { namesInFolder } from '../storage/privateFiles.ts';
import type { EngineStorage } from '../storage/storage.ts';

const POLL = 20;

/** How many milliseconds killed processes may take to end. */
const KILL_LIMIT = 5_000;

/** PgBouncer's pid file, and its configuration file, which is its argument. */
export const POOLER_PID_FILE = 'pgbouncer.pid';
export const POOLER_CONFIG_FILE = 'pgbouncer.ini';

/** A process according to its pid file. */
interface PidRecord {
  readonly pid: number;
  readonly startedAt: number;
  /** An argument that no other process has. */
  readonly argument: string;
}

/**
 * Whether the process that wrote a pid file still runs. The pid file may be forged or stale: a process of another user is not
 * a server of this service.
 */
const isServerRunning = ({ pid, startedAt, argument }: PidRecord): boolean =>
  canSignal(pid) && isSameProcess(pid, startedAt, argument);

/**
 * Stops all processes that an earlier service left on this storage.
 * @param postgres a program of any version. On Windows, the servers are killed without one
 * @returns the number of processes
 */
export async function stopOrphans({ root }: Pick<EngineStorage, 'root'>, postgres?: string): Promise<number> {
  const foldersOf = (kind: string) =>
    namesInFolder(path.join(root, kind)).map((id) => path.join(root, kind, id));
  const ended = await Promise.all([
    ...foldersOf('poolers').map(stopPooler),
    ...['branches', 'replicas']
      .flatMap(foldersOf)
      .map(async (folder) => stopOrphanServer(path.join(folder, 'data'), postgres)),
  ]);
  return ended.filter(Boolean).length;
}

/**
 * Stops a server of an earlier service on this data directory.
 * @param postgres the same as for {@link stopOrphans} @returns whether there was one
 */
export async function stopOrphanServer(dataDir: string, postgres?: string): Promise<boolean> {
  const written = readPostmasterPid(dataDir);
  if (written === undefined) return false;
  const found = await stopProcess({ ...written, argument: dataDir }, POSTMASTER_STOP_STEPS, (pid, signal) =>
    postgres === undefined ? sendSignal(pid, signal) : signalServer(postgres, pid, signal),
  );
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
  for (const until = performance.now() + KILL_LIMIT; performance.now() < until;) {
    const pids = readdirSync('/proc').filter((name) => isBackendIn(folder, name));
    if (pids.length === 0) return;
    for (const pid of pids) sendSignal(Number(pid), 'SIGKILL');
    await sleep(POLL);
  }
}

/** Whether the process is a Postgres program in the folder, rather than a user's shell, for example. */
function isBackendIn(folder: string, pid: string): boolean {
  try {
    const program = path.basename(readlinkSync(`/proc/${pid}/exe`));
    return /^postgres( \(deleted\))?$/.test(program) && readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch {
    return false; // There is no such process, or it belongs to another user.
  }
}

/**
 * Stops a PgBouncer that an earlier service has left. PgBouncer's pid file contains only the pid. PgBouncer writes the file when
 * it starts, so the time of the file is the start time.
 */
async function stopPooler(folder: string): Promise<boolean> {
  const file = path.join(folder, POOLER_PID_FILE);
  if (!existsSync(file)) return false;
  const pid = Number(readFileSync(file, 'utf8'));
  const startedAt = statSync(file).mtimeMs / 1000;
  const argument = path.join(folder, POOLER_CONFIG_FILE);
  const found = await stopProcess({ pid, startedAt, argument }, [['SIGKILL', KILL_LIMIT]]);
  rmSync(file, { force: true });
  return found;
}

/** Returns whether the process was running. */
async function stopProcess(written: PidRecord, steps: StopSteps, signalTo = sendSignal): Promise<boolean> {
  if (!isServerRunning(written)) return false;
  for (const [signal, limit] of steps) {
    signalTo(written.pid, signal);
    for (const until = performance.now() + limit; performance.now() < until; await sleep(POLL))
      if (!isServerRunning(written)) return true;
  }
  return true;
}
