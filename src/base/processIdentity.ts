/**
 * Recognises the process that wrote a pid file. Pids are used again, so the time the process started must agree too;
 * names prove nothing.
 */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** A process as it describes itself in a file, to be recognised by later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Seconds since 1970. */
  readonly startedAt: number;
  /** See `processMark`; files of earlier versions have none. */
  readonly mark?: string | undefined;
}

export const ownIdentity = (): ProcessIdentity => ({
  pid: process.pid,
  startedAt: startTime(process.pid) ?? performance.timeOrigin / 1000,
  mark: processMark(process.pid),
});

/** Start times from different sources are rounded differently. Seconds. */
const TOLERANCE = 3;

/** Clock ticks per second in /proc, the same on every Linux that Node runs on. */
const TICKS = 100;

/**
 * @param startedAt seconds since 1970, as the pid file tells
 * @param argument what only this process was started with, for where the clock was set since: Linux tells start times as
 * if it had always been as it is now
 */
export function isSameProcess(pid: number, startedAt: number, argument?: string): boolean {
  if (!isAlive(pid)) return false;
  const actual = startTime(pid);
  if (actual === undefined) return false;
  return Math.abs(actual - startedAt) <= TOLERANCE || (argument !== undefined && hasArgument(pid, argument));
}

/** Whether the process that wrote this still runs. */
export const isRunning = ({ pid, startedAt, mark }: ProcessIdentity): boolean =>
  mark === undefined ? isSameProcess(pid, startedAt) : processMark(pid) === mark;

/** Like `isRunning`, but does not block while another program reads the start time, up to a second on Windows. */
export async function isStillRunning(identity: ProcessIdentity): Promise<boolean> {
  const { pid, startedAt, mark } = identity;
  if (mark !== undefined || process.platform === 'linux') return isRunning(identity);
  if (!isAlive(pid)) return false;
  const [command, args] = startTimeCommand(pid);
  const read = promisify(execFile)(command, args, START_TIME_OPTIONS);
  const actual = await read.then(({ stdout }) => secondsOf(stdout)).catch(() => undefined);
  return actual !== undefined && Math.abs(actual - startedAt) <= TOLERANCE;
}

/**
 * Tells a process from all others that ever have its id, whatever becomes of the clock.
 * @returns undefined where the system's start times do not depend on the clock, and when it is gone
 */
export function processMark(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const [ticks, boot] = [ticksAtStart(pid), readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')];
    return ticks === undefined ? undefined : `${ticks} ${boot.trim()}`;
  } catch {
    return undefined; // It ended between the question and the answer.
  }
}

/** Whether a process of this id exists, including one that we may not signal. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** When a process started, in seconds since 1970; undefined when it is gone (a zombie is). */
export function startTime(pid: number): number | undefined {
  try {
    if (process.platform === 'linux') return startTimeFromProc(pid);
    return secondsOf(execFileSync(...startTimeCommand(pid), START_TIME_OPTIONS));
  } catch {
    return undefined; // It ended between the question and the answer.
  }
}

/** The fields of a Linux `/proc/<pid>/stat` from the third on: state, parent, group … */
export function statFields(stat: string): string[] {
  // The second field is the name in brackets and may hold anything, brackets and spaces too.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function startTimeFromProc(pid: number): number | undefined {
  const ticks = ticksAtStart(pid);
  const bootTime = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
  return ticks === undefined ? undefined : Number(bootTime) + ticks / TICKS;
}

/** Since the system was started. */
function ticksAtStart(pid: number): number | undefined {
  const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return fields[0] === 'Z' ? undefined : Number(fields[19]);
}

function hasArgument(pid: number, argument: string): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument);
  } catch {
    return false; // It ended between the question and the answer.
  }
}

const START_TIME_OPTIONS = {
  encoding: 'utf8',
  env: { ...process.env, LC_ALL: 'C' },
  timeout: 5_000,
} as const;

const startTimeCommand = (pid: number): [command: string, args: string[]] =>
  process.platform === 'win32'
    ? ['powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToString('o')`]]
    : ['ps', ['-o', 'lstart=', '-p', String(pid)]];

function secondsOf(date: string): number | undefined {
  const time = Date.parse(date.trim()) / 1000;
  return Number.isNaN(time) ? undefined : time;
}
