/**
 * Tries to lock many folders, each at the same moment as other processes, and prints which locks it has. Holds them until
 * its standard input ends.
 */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serviceClock } from '../../../../src/service/core/serviceClock.ts';
import { lockInstance } from '../../../../src/service/state/instanceLock.ts';

const options = { clock: serviceClock, log: () => undefined, onLost: () => undefined };
const [parent = '', first, count, pause] = process.argv.slice(2);
await delay(Number(first) - Date.now() - Number(pause));
const taken: (boolean | string)[] = [];
for (let turn = 0; turn < Number(count); turn += 1) {
  // A timer would be too inaccurate.
  while (Date.now() < Number(first) + turn * Number(pause));
  try {
    await lockInstance(path.join(parent, String(turn)), options);
    taken.push(true);
  } catch (error) {
    taken.push(/already/.test(String(error)) ? false : String(error));
  }
}
process.stdout.write(JSON.stringify(taken));
process.stdin.on('end', () => process.exit()).resume();
