/**
 * Takes the locks of many folders, each at a moment that others are told too, and prints for each whether it has it. It
 * lives until its standard input ends, and its locks with it.
 */
import path from 'node:path';
import { lockInstance } from '../../src/service/state/dataDirectory.ts';

const [parent = '', first, count, pause] = process.argv.slice(2);
const taken: Promise<boolean | string>[] = [];
for (let turn = 0; turn < Number(count); turn += 1) {
  // Waiting in any other way would end too late by far.
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
