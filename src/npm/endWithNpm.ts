/** On a signal, npm and npx end only their shell, so the program that they run has to notice that the shell is gone. */
import { isAlive } from '../base/programs/isAlive.ts';

/** Milliseconds between two checks of the parent process. */
const POLL = 500;

/**
 * Sends this program SIGTERM when the shell of npm that has started it is gone. Does nothing if something else has started this
 * program, such as a script in the background, because it may be meant to continue.
 */
export function endWithNpm(): void {
  const script = process.env['npm_lifecycle_script'] ?? '';
  const unquoted = script.replaceAll(/"[^"]*"|'[^']*'|&&|>&/g, '');
  if (!script.includes('hosted-postgres') || unquoted.includes('&')) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    // On Windows, a process keeps the pid of its parent.
    if (process.ppid === parent && isAlive(parent)) return;
    clearInterval(timer);
    // On Windows, a signal would end this program at once, without calling what stops the service.
    if (!process.emit('SIGTERM')) process.kill(process.pid, 'SIGTERM');
  }, POLL);
}
