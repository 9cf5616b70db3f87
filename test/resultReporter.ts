import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** What one run of mocha leaves for `test/run.ts`, in the file that RESULTS_FILE names. */
export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Mocha's own report to read, and the counts to add up. Runs in Node and inside the extension host. */
export default class ResultReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const file = process.env.RESULTS_FILE;
    if (file === undefined || file === '') return;
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      const results: Results = { passed: passes, failed: failures, skipped: pending };
      writeFileSync(file, JSON.stringify(results));
    });
  }
}
