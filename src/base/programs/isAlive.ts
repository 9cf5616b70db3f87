/** Whether a process runs. Separate from `../processIdentity.ts`, because each window needs only this when it opens. */
import { fieldsOf } from '../fieldsOf.ts';

/**
 * Whether a number can be a pid. For 0 and negative numbers, the system would signal a group of processes (or, on Windows, this
 * process for 0). The pid in a damaged file may not be a number.
 */
const isPid = (pid: number): boolean => pid > 0;

/** Whether a process with this pid exists, including one of another user. */
export function isAlive(pid: number): boolean {
  try {
    return isPid(pid) && process.kill(pid, 0);
  } catch (error) {
    return fieldsOf(error).code === 'EPERM';
  }
}

/** Whether a process with this pid exists and belongs to this user. */
export function canSignal(pid: number): boolean {
  try {
    return isPid(pid) && process.kill(pid, 0);
  } catch {
    return false;
  }
}
