import assert from 'node:assert/strict';

/** How much longer the longer text is. Quadratic work takes eight times as long again. */
const FACTOR = 8;
/** Between what linear (1) and quadratic (8) work take beyond the factor. */
const MAX_RATIO = 3.5;
const TRIES = 4;

/**
 * Microseconds that a measurement takes at least, in as many runs as fit: what the system does in the meantime would decide about a single run
 * of some microseconds. Windows counts CPU time in steps of up to 16 ms.
 */
const MIN_TIME = process.platform === 'win32' ? 60_000 : 2000;

/** Microseconds of CPU time. */
const fastest = (run: () => void): number => {
  let best = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 3; times += 1) best = Math.min(best, measured(run));
  return best;
};

function measured(run: () => void): number {
  const start = process.cpuUsage();
  for (let runs = 1; ; runs += 1) {
    run();
    const { user, system } = process.cpuUsage(start);
    if (user + system >= MIN_TIME) return (user + system) / runs;
  }
}

/**
 * Fails when the time that `run` takes grows faster than its text. It compares two CPU times, so neither the speed of the
 * machine nor what else runs on it matters. The garbage collector may spoil a try, so there are several.
 * @param length characters of the shorter text
 * @param start the start of both texts. If \`run\` adds it, that is measured, too, and memory for a long text takes longer
 */
export function assertLinear(unit: string, length: number, run: (text: string) => void, start = ''): void {
  const text = (characters: number) => start + unit.repeat(Math.ceil(characters / unit.length));
  const [short, long] = [text(length), text(length * FACTOR)];
  const ratios: number[] = [];
  while (ratios.length < TRIES) {
    const ratio = fastest(() => run(long)) / fastest(() => run(short)) / FACTOR;
    if (ratio < MAX_RATIO) return;
    ratios.push(Math.round(ratio * 10) / 10);
  }
  assert.fail(`${FACTOR} times the text took ${ratios.join(', ')} times as long for each character`);
}
