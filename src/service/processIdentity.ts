/**
 * Tells whether a process is still the one that wrote a pid file. Pids are used again, so the time the process
 * started must agree too; names prove nothing.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Start times from different sources are rounded differently. Seconds. */
const TOLERANCE = 3;

/** Clock ticks per second in /proc, the same on every Linux that Node runs on. */
const TICKS = 100;

/** @param startedAt seconds since 1970, as the pid file tells */
export function isSameProcess(pid: number, startedAt: number): boolean {
  if (!isAlive(pid)) return false;
  const actual = startTime(pid);
  return actual !== undefined && Math.abs(actual - startedAt) <= TOLERANCE;
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
    switch (process.platform) {
      case 'linux':
        return startTimeFromProc(pid);
      case 'win32':
        return dateOf('powershell', [
          '-NoProfile',
          '-Command',
          `(Get-Process -Id ${pid}).StartTime.ToString('o')`,
        ]);
      default:
        return dateOf('ps', ['-o', 'lstart=', '-p', String(pid)]);
    }
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
  const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const bootTime = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
  return fields[0] === 'Z' ? undefined : Number(bootTime) + Number(fields[19]) / TICKS;
}

function dateOf(command: string, args: string[]): number | undefined {
  const text = execFileSync(command, args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  const time = Date.parse(text.trim()) / 1000;
  return Number.isNaN(time) ? undefined : time;
}
