// `npm test`, `npm run test:all` and `npm run test:full`: runs all steps of one or more plans, even if some fail, and ends with one
// summary line. The exit code is 0 only if every step ran and nothing failed.
//   node test/run.ts [test] [beyond] [host] [--full]
import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { RANDOM_SEED } from './helpers/seed.ts';
import { makeMemoryFolder, removeStorageOf } from './memoryFolder.ts';
import { STEP_LIMIT } from './limits.ts';
import { planFor, type Step } from './steps.ts';
import { slowestOf, type Results } from './resultReporter.ts';
import { cacheFolder, projectRoot } from './workbench/folders.ts';
import { startSupervised, type SupervisedProcess } from './workbench/supervisedProcess.ts';

interface Outcome extends Results {
  readonly step: Step;
  readonly seconds: number;
}

const REPORTED = 15;
/** More only fight for the cores of a small machine. */
const STEPS_AT_A_TIME = 2;

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: { full: { type: 'boolean', default: false } },
});
const plan = planFor(...(names.length > 0 ? names : ['test']));
process.chdir(projectRoot);
const scratch = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-test-'));
const memory = await makeMemoryFolder();
// See helpers/sharedFolder.ts.
const shared = path.join(memory ?? scratch, 'shared');
await mkdir(shared);
// A service of root reaches it after it became `nobody`.
for (const folder of [scratch, shared]) await chmod(folder, 0o711);
console.log(`The seed of random suites is ${RANDOM_SEED}. SEED=${RANDOM_SEED} repeats it.`);
const running = new Set<SupervisedProcess>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void abort());
const outcomes: Outcome[] = [];
try {
  for (const stage of plan) {
    const steps = stage.filter((step) => step.isSkipped !== true);
    const isFirst = (step: Step) => step === steps[0];
    const isIdle = (step: Step) => step.isIdle === true;
    const queue = steps.filter((step) => !isIdle(step)).values();
    // The first step of a stage prints its output at once, the others print theirs when they end.
    const runAll = async (each: Iterable<Step>) => {
      for (const step of each) outcomes.push(await run(step, isFirst(step)));
    };
    const next = Array.from({ length: STEPS_AT_A_TIME }, () => queue);
    await Promise.all([...next, steps.filter(isIdle)].map(runAll));
  }
} finally {
  removeFolders();
}
report();

function removeFolders(): void {
  if (memory !== undefined) removeStorageOf(memory);
  for (const folder of [scratch, memory])
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

async function abort(): Promise<void> {
  await Promise.all([...running].map((program) => program.stop()));
  removeFolders();
  process.exit(130);
}

async function run(step: Step, live: boolean): Promise<Outcome> {
  if (live) console.log(`\n── ${step.name}`);
  const startedAt = Date.now();
  const resultsFile = path.join(scratch, `${step.name}.json`);
  const outputFile = path.join(scratch, `${step.name}.log`);
  const output = await open(outputFile, 'w');
  const [command = '', ...args] = step.command;
  const program = startSupervised(command, args, {
    env: {
      ...process.env,
      ...(memory !== undefined && { TMPDIR: memory }),
      // About 20 processes load the same TypeScript files.
      NODE_COMPILE_CACHE: path.join(cacheFolder, '..', 'compiled'),
      SEED: String(RANDOM_SEED),
      ...(values.full && { FULL_RUN: '1' }),
      TEST_SHARED_FOLDER: shared,
      RESULTS_FILE: resultsFile,
    },
    output: live ? 'inherit' : output.fd,
  });
  running.add(program);
  const timer = setTimeout(() => void program.stop(), STEP_LIMIT);
  const exitCode = await program.exited;
  running.delete(program);
  clearTimeout(timer);
  await output.close();
  if (!live) console.log(`\n── ${step.name}\n${(await readFile(outputFile, 'utf8')).trimEnd()}`);
  const inTime = Date.now() - startedAt < STEP_LIMIT;
  const counts = await count(step, exitCode === 0 && inTime, resultsFile);
  return { step, seconds: (Date.now() - startedAt) / 1000, ...counts };
}

/** Counts a step as one failure if it failed without a failed test or ran no test. */
async function count(step: Step, succeeded: boolean, resultsFile: string): Promise<Results> {
  const failure: Results = { passed: 0, failed: 1, skipped: 0, failures: [], slowest: [], suites: [] };
  if (step.counts === 'one') return succeeded ? { ...failure, passed: 1, failed: 0 } : failure;
  const results = await readResults(resultsFile);
  if (results === undefined || results.passed + results.failed === 0) return failure;
  return !succeeded && results.failed === 0 ? { ...results, failed: 1 } : results;
}

async function readResults(file: string): Promise<Results | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

function report(): void {
  console.log('\n──');
  for (const { step, seconds, passed, failed } of outcomes) {
    const counted = [passed > 0 && `${passed} passed`, failed > 0 && `${failed} failed`].filter(Boolean);
    console.log(`${step.name.padEnd(16)}${seconds.toFixed(1).padStart(7)} s  ${counted.join(', ')}`);
  }
  for (const step of plan.flat())
    if (step.leftOut !== undefined) console.log(`${step.name.padEnd(16)}left out here: ${step.leftOut}`);
  for (const [heading, key] of [
    ['Slowest tests and hooks', 'slowest'],
    ['Slowest suites', 'suites'],
  ] as const) {
    const all = outcomes.flatMap((each) => each[key].map((timed) => ({ ...timed, step: each.step.name })));
    console.log(`\n${heading}`);
    for (const { title, milliseconds, step } of slowestOf(all, REPORTED))
      console.log(`${(milliseconds / 1000).toFixed(1).padStart(7)} s  ${step}: ${title}`);
  }
  // Here too, because they are hard to find in the output of a step.
  for (const { step, failures } of outcomes)
    for (const failure of failures) console.log(`\nFailed: ${step.name}: ${failure}`);
  const sum = (key: 'passed' | 'failed' | 'skipped'): number =>
    outcomes.reduce((total, each) => total + each[key], 0);
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
  console.log(`${sum('passed')} passed, ${sum('failed')} failed${skipped}`);
  process.exitCode = sum('failed') > 0 ? 1 : 0;
}
