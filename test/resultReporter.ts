import { writeFileSync } from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

interface TimedTest {
  readonly title: string;
  readonly milliseconds: number;
}

/** What one mocha run writes to the file named by RESULTS_FILE, for `test/run.ts`. */
export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The titles of failed tests and hooks, each with its error. */
  readonly failures: readonly string[];
  /** The slowest tests and hooks. */
  readonly slowest: readonly TimedTest[];
  /** How long the tests and hooks of each file took together. */
  readonly suites: readonly TimedTest[];
}

const REPORTED = 15;

/** Prints mocha's usual report and writes the results to a file. Runs in Node and inside the extension host. */
export default class ResultReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const file = process.env.RESULTS_FILE;
    if (file === undefined || file === '') return;
    const timed: TimedTest[] = [];
    const suites = new Map<string, number>();
    const failures: string[] = [];
    runner.on('fail', (failed, error) =>
      failures.push(`${failed.fullTitle()}\n${error.stack ?? error.message}`),
    );
    const add = (ended: Mocha.Runnable) => {
      const milliseconds = ended.duration ?? 0;
      timed.push({ title: ended.fullTitle(), milliseconds });
      const suite = path.relative(process.cwd(), ended.file ?? '');
      suites.set(suite, (suites.get(suite) ?? 0) + milliseconds);
    };
    runner.on('test end', add);
    runner.on('hook end', add);
    runner.once('end', () => {
      const { passes, failures: failed, pending } = this.stats;
      const slowest = slowestOf(timed, REPORTED);
      const results: Results = {
        passed: passes,
        failed,
        skipped: pending,
        failures,
        slowest,
        suites: [...suites].map(([title, milliseconds]) => ({ title, milliseconds })),
      };
      writeFileSync(file, JSON.stringify(results));
    });
  }
}

/** Returns the slowest, slowest first. */
export const slowestOf = <T extends TimedTest>(all: readonly T[], count: number): T[] =>
  all.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, count);
