import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** The counts that one mocha run writes to the file named by RESULTS_FILE, for `test/run.ts`. */
export interface Results {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Prints mocha's usual report and writes the counts to a file. Runs in Node and inside the extension host. */
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
