// The entry point of the suites that run in the extension host, both in the web workbench and on the desktop. VS Code
// loads its bundle, dist/test/index.js, and ends when `run` resolves or rejects.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';
import { TEST_LIMIT } from '../../limits.ts';
import ResultReporter from '../../resultReporter.ts';

/** Runs every `*.test.ts` of this folder. Rejects if a test fails or a file cannot be loaded. */
export async function run(): Promise<void> {
  // The prefix tells the report apart from VS Code's own log.
  const report = (...parts: unknown[]): void => console.log(`[suites] ${format(...parts)}`);
  Mocha.reporters.Base.consoleLog = report;
  const mocha = new Mocha({ ui: 'bdd', timeout: TEST_LIMIT, reporter: ResultReporter });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  try {
    await loadSuites();
  } catch (error) {
    report(error);
    throw error;
  }
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) throw new Error(`${failures} failed`);
}

async function loadSuites(): Promise<void> {
  const sources = path.join(import.meta.dirname, '../../test/host/inside');
  for (const file of readdirSync(sources).toSorted()) {
    const name = file.match(/^(.*)\.test\.ts$/)?.[1];
    // The bundle contains the files that matched this pattern when it was built.
    if (name !== undefined) await import(`./${name}.test.ts`);
  }
}
