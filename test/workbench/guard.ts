// Runs one command and makes sure that nothing of it outlives the process that asked for it:
//   node guard.ts COMMAND [ARGUMENT…]
// When standard input closes, which happens however that process ends, or on SIGTERM or SIGINT, the
// command, its process group and all their descendants are asked to end, and killed when they do not.
// It is to be started detached, so that it leads a process group of its own.
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { familyOf } from './processes.ts';

const patienceMs = 5_000;
const [command, ...args] = process.argv.slice(2);
if (command === undefined) throw new Error('guard.ts needs a command to run');

const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
let ending = false;

child.once('error', (error) => {
  console.error(error.message);
  process.exit(127);
});
child.once('exit', (code) => void end(code ?? 1));
process.stdin
  .resume()
  .once('end', () => void end(0))
  .once('error', () => void end(0));
process.on('SIGTERM', () => void end(0));
process.on('SIGINT', () => void end(0));
process.on('SIGHUP', () => void end(0));

async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(child.pid), '/T', '/F']).once('exit', () => process.exit(exitCode));
    return;
  }
  const deadline = Date.now() + patienceMs;
  const known = new Set([process.pid]);
  const asked = new Set<number>();
  for (;;) {
    const family = await familyOf(known);
    const others = family.filter((pid) => pid !== process.pid);
    if (others.length === 0) process.exit(exitCode);
    for (const pid of others) {
      if (Date.now() > deadline) signal(pid, 'SIGKILL');
      else if (!asked.has(pid)) signal(pid, 'SIGTERM');
      known.add(pid);
      asked.add(pid);
    }
    await delay(30);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended between the listing and the signal.
  }
}
