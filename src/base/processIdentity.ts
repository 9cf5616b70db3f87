/**
 * Recognizes the process that wrote a pid file. The system reuses pids, so the start time must match too. Process names
 * prove nothing.
 */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { canSignal, isAlive } from './programs/isAlive.ts';
import { windowsProgram } from './programs/windowsProgram.ts';

/** What a process writes to a file so that others recognize it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Seconds since 1970. */
  readonly startedAt: number;
  /** The result of `uniqueProcessId`, which is missing except on Linux. */
  readonly uniqueId?: string | undefined;
}

export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  startedAt: readStartTimeSync(process.pid) ?? performance.timeOrigin / 1000,
  uniqueId: uniqueProcessId(process.pid),
});

/** Returns the process that these fields of a file or of JSON describe; undefined if they describe none. */
export function identityIn({
  pid,
  startedAt,
  uniqueId,
}: Readonly<Record<string, unknown>>): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || Number(pid) <= 0 || typeof startedAt !== 'number') return undefined;
  return { pid: Number(pid), startedAt, uniqueId: typeof uniqueId === 'string' ? uniqueId : undefined };
}

/** By how many seconds start times may differ, because sources round them differently. */
const TOLERANCE_SECONDS = 3;

/** USER_HZ, the rate of the clock ticks in /proc: 100 on every Linux that Node supports. */
const CLOCK_TICKS_PER_SECOND = 100;

/**
 * Whether the process of a pid file still runs.
 * @param startedAt seconds since 1970, from the pid file
 * @param argument a unique argument of the process. It identifies the process if the clock was changed since then, because
 * Linux calculates start times from the current clock.
 */
export function isSameProcess(pid: number, startedAt: number, argument?: string): boolean {
  if (!isAlive(pid)) return false;
  const actual = readStartTimeSync(pid);
  if (actual === undefined) return false;
  return (
    Math.abs(actual - startedAt) <= TOLERANCE_SECONDS ||
    (argument !== undefined && hasArgument(pid, argument))
  );
}

/** Whether the process still runs. Another process with the same pid doesn't count. */
export function isRunningSync({ pid, startedAt, uniqueId }: ProcessIdentity): boolean {
  if (uniqueId !== undefined) return uniqueProcessId(pid) === uniqueId;
  return isAlive(pid) && hasStartedAt(pid, readStartTimeSync(pid), startedAt);
}

/**
 * Like `isRunningSync`, but doesn't block while another program reads the start time, which takes a second on Windows.
 * @param maxTime milliseconds until that program is ended
 */
export async function isRunning(identity: ProcessIdentity, maxTime?: number): Promise<boolean> {
  const { pid, startedAt, uniqueId } = identity;
  if (uniqueId !== undefined || process.platform === 'linux') return isRunningSync(identity);
  if (!isAlive(pid)) return false;
  const actual = pid === process.pid ? readOwnStartTime() : readStartTime(pid, maxTime);
  return hasStartedAt(pid, await actual, startedAt);
}

/** The start time of this process. It is read only once, because it doesn't change and because reading it takes long. */
let ownStartTime: Promise<number | undefined> | undefined;
/** Returns seconds since 1970, or undefined if the system doesn't say. Doesn't block while another program reads it. */
export const readOwnStartTime = () => (ownStartTime ??= readStartTime(process.pid));

async function readStartTime(pid: number, maxTime?: number): Promise<number | undefined> {
  const [command, args] = startTimeCommand(pid);
  const read = promisify(execFile)(command, args, startTimeOptions(maxTime));
  return read.then(({ stdout }) => parseEpochSeconds(stdout)).catch(() => undefined);
}

/**
 * Whether the process with this pid has this start time. Except on Linux, another program reads the start time, and may be
 * forbidden or too slow. If so, any process of this user counts as the same one, because two services on the same data would be
 * worse than none.
 */
function hasStartedAt(pid: number, actual: number | undefined, startedAt: number): boolean {
  if (actual === undefined) return process.platform !== 'linux' && canSignal(pid);
  return Math.abs(actual - startedAt) <= TOLERANCE_SECONDS;
}

/**
 * Returns a text that distinguishes a process from every other one with the same pid, even if the clock is changed. Only Linux needs
 * it, where the start time of a process is computed from the current clock.
 * @returns undefined on other systems, and for a process that has ended
 */
export function uniqueProcessId(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const [ticks, boot] = [ticksAtStart(pid), readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')];
    return ticks === undefined ? undefined : `${ticks} ${boot.trim()}`;
  } catch {
    return undefined; // The process has ended in between.
  }
}

/**
 * Returns seconds since 1970; undefined if the process has ended or, on Linux, is a zombie. On other systems, also if the program that
 * reads the time fails or is too slow.
 */
export function readStartTimeSync(pid: number): number | undefined {
  try {
    if (process.platform === 'linux') return startTimeFromProc(pid);
    return parseEpochSeconds(execFileSync(...startTimeCommand(pid), startTimeOptions()));
  } catch {
    return undefined; // The process has ended in between, or the program has failed.
  }
}

/** Returns the fields of Linux's `/proc/<pid>/stat` from the third on: state, parent, group … */
export function parseProcStat(stat: string): string[] {
  // The second field is the name in parentheses, which may itself contain parentheses and spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function startTimeFromProc(pid: number): number | undefined {
  const ticks = ticksAtStart(pid);
  const bootTime = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
  return ticks === undefined ? undefined : Number(bootTime) + ticks / CLOCK_TICKS_PER_SECOND;
}

/** Returns the clock ticks from the start of the system to the start of the process; undefined for a zombie. */
function ticksAtStart(pid: number): number | undefined {
  const fields = parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return fields[0] === 'Z' ? undefined : Number(fields[19]);
}

function hasArgument(pid: number, argument: string): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument);
  } catch {
    return false; // The process has ended in between.
  }
}

/**
 * Returns the options for a program that reads a start time. A constant would contain the API key, which the service removes from
 * the environment only after its modules are loaded.
 */
const startTimeOptions = (timeout = 15_000) =>
  ({ encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, timeout, windowsHide: true }) as const;

function startTimeCommand(pid: number): [command: string, args: string[]] {
  if (process.platform !== 'win32') return ['ps', ['-o', 'lstart=', '-p', String(pid)]];
  const powershell = windowsProgram('WindowsPowerShell', 'v1.0', 'powershell.exe');
  return [powershell, ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToString('o')`]];
}

function parseEpochSeconds(date: string): number | undefined {
  const time = Date.parse(date.trim()) / 1000;
  return Number.isNaN(time) ? undefined : time;
}
