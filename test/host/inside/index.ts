// Entry point of the suites that run inside VS Code's extension host, in the web workbench as on the
// desktop: bundled to dist/test/index.js, loaded by VS Code, ended when `run` resolves or rejects.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';
import ResultReporter from '../../resultReporter.ts';

/** Runs every `*.test.ts` beside this file. @throws when a test failed or a file could not be loaded */
export async function run(): Promise<void> {
  // Marked, because it comes out in the middle of what VS Code itself logs.
  const report = (...parts: unknown[]): void => console.log(`[suites] ${format(...parts)}`);
  Mocha.reporters.Base.consoleLog = report;
  const mocha = new Mocha({ ui: 'bdd', timeout: 20_000, reporter: ResultReporter });
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
  const sources = path.join(__dirname, '../../test/host/inside');
  for (const file of readdirSync(sources).toSorted()) {
    const name = file.match(/^(.*)\.test\.ts$/)?.[1];
    // The bundle holds every file that the pattern matched when it was built.
    if (name !== undefined) await import(`./${name}.test.ts`);
  }
}
