/**
 * Tries to lock many folders, each at the same moment as other processes, and prints which locks it has. Holds them until
 * its standard input ends.
 */
import path from 'node:path';
import { lockInstance } from '../../src/service/state/dataDirectory.ts';

const [parent = '', first, count, pause] = process.argv.slice(2);
const taken: Promise<boolean | string>[] = [];
for (let turn = 0; turn < Number(count); turn += 1) {
  // A timer would be too inaccurate.
  while (Date.now() < Number(first) + turn * Number(pause));
  const lock = lockInstance(path.join(parent, String(turn)));
  taken.push(
    lock.then(
      () => true,
      (error: unknown) => (/already/.test(String(error)) ? false : String(error)),
    ),
  );
}
process.stdout.write(JSON.stringify(await Promise.all(taken)));
process.stdin.on('end', () => process.exit()).resume();
