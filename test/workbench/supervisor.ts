// Runs one command and ends it, with all its descendants, when the process that started this one ends:
//   node supervisor.ts COMMAND [ARGUMENT…]
// The end of the starting process closes standard input, however it ends. Then, or on SIGTERM or SIGINT, the command,
// its process group and all their descendants get SIGTERM, and SIGKILL if they do not end in time.
// Start it detached, so that it leads its own process group.
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { processTree } from './processes.ts';

const gracePeriodMs = 5_000;
const [command, ...args] = process.argv.slice(2);
if (command === undefined) throw new Error('supervisor.ts needs a command to run');

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
  const deadline = Date.now() + gracePeriodMs;
  const known = new Set([process.pid]);
  const terminated = new Set<number>();
  for (;;) {
    const tree = await processTree(known);
    const descendants = tree.filter((pid) => pid !== process.pid);
    if (descendants.length === 0) process.exit(exitCode);
    for (const pid of descendants) {
      if (Date.now() > deadline) signal(pid, 'SIGKILL');
      else if (!terminated.has(pid)) signal(pid, 'SIGTERM');
      known.add(pid);
      terminated.add(pid);
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
