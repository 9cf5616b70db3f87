/**
 * A lock of the operating system on a file: it ends with the last process that has it, however that ends, and no clock or
 * process id is needed to know whether it is held. All containers on one kernel see it. Some file systems don't offer it, such
 * as network file systems without a lock service.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { fieldsOf } from '../../base/fieldsOf.ts';

/** The flag for `open` on macOS (`O_EXLOCK`) and Windows (libuv's `UV_FS_O_EXLOCK`). Node names neither. */
const LOCK_ON_OPEN: Partial<Record<NodeJS.Platform, number>> = {
  darwin: 0x20 | constants.O_NONBLOCK,
  win32: 0x1000_0000,
};
const CODES_IF_HELD: readonly unknown[] = ['EAGAIN', 'EBUSY'];
/** The exit code of `flock` if another process has the lock. */
const EXIT_IF_HELD = 1;

/**
 * Creates the file if it is missing. It must never be removed, or two processes could lock two files of that name.
 * @returns a descriptor, which has the lock until it and all copies in other processes are closed; `held` if another process
 * has the lock; undefined if the system doesn't offer one for this file
 */
export async function lockFile(file: string): Promise<number | 'held' | undefined> {
  const flags = constants.O_RDWR | constants.O_CREAT | (LOCK_ON_OPEN[process.platform] ?? 0);
  let descriptor: number;
  try {
    descriptor = openSync(file, flags, 0o600);
  } catch (error) {
    return CODES_IF_HELD.includes(fieldsOf(error).code) ? 'held' : undefined;
  }
  const exitCode = process.platform in LOCK_ON_OPEN ? 0 : await runFlock(descriptor);
  if (exitCode === 0) return descriptor;
  closeSync(descriptor);
  return exitCode === EXIT_IF_HELD ? 'held' : undefined;
}

/**
 * Locks an open file with the program `flock`. Linux has no flag for that. A lock belongs to the open file, which the program
 * shares with this process.
 */
async function runFlock(descriptor: number): Promise<unknown> {
  const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] });
  return once(child, 'close').then(
    ([code]: unknown[]) => code,
    () => undefined, // The system has no such program.
  );
}
