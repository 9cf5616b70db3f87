/** npm and npx end only their shell on a signal, so their program has to notice it. */
import { isAlive } from '../base/processIdentity.ts';

/** Milliseconds between two looks at the parent process. */
const POLL = 500;

/**
 * Sends this program SIGTERM when the shell of npm that has started it is gone. Not if another program has started it: that
 * program may want it to continue, for example a script that runs it in the background.
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
