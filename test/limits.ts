/**
 * How long tests wait, in milliseconds. A limit only ends a hang: what it waits for takes seconds. All grow with the slowness
 * of the machine, so that a slow one fails no test that a fast one passes.
 */
import { spawnSync } from 'node:child_process';

const MINUTE = 60_000;
/** How long it takes to start Node on a machine that does nothing else. */
const IDLE_START = 50;
const STARTS = 3;

/** The first process of a run measures it. The others inherit the variable. */
const slowness = Number((process.env['TEST_SLOWNESS'] ??= String(measureSlowness())));

/** For one state, such as a row that appears. */
export const WAIT_LIMIT = Math.ceil(2 * MINUTE * slowness);
/** For one test or hook, and for a program that a test starts. */
export const TEST_LIMIT = Math.ceil(10 * MINUTE * slowness);
/** Short for a limit of the product that a test sees exceeded, and long for what must not exceed it. */
export const SHORT_LIMIT = 200 * slowness;
/** For one step of `npm test`. The longest takes half an hour on any machine. */
export const STEP_LIMIT = 45 * MINUTE;

/** Returns how many times longer it takes to start Node than on an idle machine, rounded up: Node takes only whole limits. */
function measureSlowness(): number {
  const startedAt = performance.now();
  for (let count = 0; count < STARTS; count += 1) spawnSync(process.execPath, ['-e', '0']);
  return Math.ceil((performance.now() - startedAt) / STARTS / IDLE_START);
}
