import { renameSync } from 'node:fs';
import { systemReason } from './systemReason.ts';

/** Milliseconds. */
const LIMIT = 2000;
const PAUSE = 20;
const IN_USE: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EBUSY']);

/**
 * Renames a file or folder and replaces an existing file. Windows fails while another program, such as a virus scanner, has
 * it open, so there it tries again, blocking this thread for up to two seconds.
 */
export function renameOver(from: string, to: string): void {
  for (const until = performance.now() + LIMIT; ;) {
    try {
      return renameSync(from, to);
    } catch (error) {
      if (process.platform !== 'win32' || !IN_USE.has(systemReason(error)) || performance.now() > until)
        throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
    }
  }
}
