// `npm run mutate`: puts random faults into copies of the folders in FLOORS, one at a time, and reports
// which of them the unit suites catch. A seed picks the same faults again in all lines that haven't changed since.
//   npm run mutate -- --count 60 --seed 1             random faults
//   npm run mutate -- --in src/api,src/base           random faults in some of the folders or files
//   npm run mutate -- --at src/api/transport/errors.ts:42       every fault of one line
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectFiles, readText } from '../../test/helpers/projectFiles.ts';
import { projectRoot } from '../../test/workbench/folders.ts';
import { findFaults, type Fault } from './faults.ts';
import { suitesBySource } from './suites.ts';

const FOLDERS = ['src/api', 'src/localService', 'src/extension', 'src/base'];
/** What needs VS Code. The tests inside VS Code and through its UI check it. */
const WITH_VSCODE = /^src\/extension\/(?:[^/]+$|windowModel\/|commandSupport\/|.*\b(?:ui|commands)\/)/;
const LOWEST_SHARE = 0.9;

interface Mutation extends Fault {
  readonly file: string;
}

/** A fault that ends in a time-out counts as caught. */
type Verdict = 'caught' | 'survived';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    in: { type: 'string', default: FOLDERS.join(',') },
    at: { type: 'string' },
  },
});
const suites = suitesBySource();
const mutations = await pickMutations();
const running = new Set<number>();
process.once('SIGINT', () => {
  for (const pid of running) kill(pid);
  process.exit(130);
});
// `process.kill(pid, 0)` with another number is a fault that sends this signal, also to the parent of a suite.
process.on('SIGHUP', () => undefined);
const copies = Array.from({ length: Number(values.workers) }, makeCopy);
process.once('exit', () => copies.forEach((copy) => rmSync(copy, { recursive: true, force: true })));

const limitMs = await measureLimit();
const survivors: Mutation[] = [];
const queue = [...mutations];
await Promise.all(copies.map(work));
report();

async function pickMutations(): Promise<readonly Mutation[]> {
  const all: { readonly mutation: Mutation; readonly order: string }[] = [];
  for (const file of FOLDERS.flatMap((folder) => projectFiles(folder, '.ts'))) {
    if (!isChosen(file)) continue;
    const text = readText(file);
    const lines = text.split('\n');
    for (const fault of findFaults(text))
      all.push({ mutation: { ...fault, file }, order: orderOf(file, fault, lines[fault.line - 1] ?? '') });
  }
  if (values.at !== undefined)
    return all.map(({ mutation }) => mutation).filter(({ file, line }) => `${file}:${line}` === values.at);
  all.sort((a, b) => a.order.localeCompare(b.order));
  console.log(`${all.length} possible faults in ${values.in}`);
  return all.slice(0, Number(values.count)).map(({ mutation }) => mutation);
}

/** Random for each seed, but the same after a change of other lines. */
function orderOf(file: string, { before, after }: Fault, line: string): string {
  return createHash('sha256')
    .update(JSON.stringify([values.seed, file, line, before, after]))
    .digest('hex');
}

function isChosen(file: string): boolean {
  if (WITH_VSCODE.test(file)) return false;
  return values.in.split(',').some((chosen) => `${file}/`.startsWith(`${chosen}/`));
}

function makeCopy(): string {
  const copy = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-mutation-'));
  const skipped = new Set(['node_modules', 'dist', '.git', '.vscode-test'].map((name) => inProject(name)));
  cpSync(projectRoot, copy, { recursive: true, filter: (source) => !skipped.has(source) });
  symlinkSync(inProject('node_modules'), path.join(copy, 'node_modules'), 'junction');
  return copy;
}

function inProject(name: string): string {
  return path.join(projectRoot, name);
}

/** Runs every suite on the unchanged sources. Exits when one fails, because then nothing can be concluded. */
async function measureLimit(): Promise<number> {
  const all = [...new Set(mutations.flatMap(({ file }) => suites.get(file) ?? []))];
  const startedAt = Date.now();
  if (all.length > 0 && !(await passes(copies[0] ?? '', all, 600_000))) {
    console.error('The unit suites fail without any fault.');
    process.exit(2);
  }
  return 10_000 + 2 * (Date.now() - startedAt);
}

async function work(copy: string): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const startedAt = Date.now();
    const verdict = await judge(copy, next);
    if (verdict === 'survived') survivors.push(next);
    console.log(
      `${verdict.padEnd(8)} ${describeMutation(next)} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`,
    );
  }
}

async function judge(copy: string, { file, start, end, after }: Mutation): Promise<Verdict> {
  const relevant = suites.get(file) ?? [];
  if (relevant.length === 0) return 'survived';
  const target = path.join(copy, file);
  const original = readText(file);
  writeFileSync(target, original.slice(0, start) + after + original.slice(end));
  try {
    return (await passes(copy, relevant, limitMs)) ? 'survived' : 'caught';
  } finally {
    writeFileSync(target, original);
  }
}

/** Whether all tests of the suites pass in time. Stops at the first failure. */
async function passes(copy: string, files: readonly string[], milliseconds: number): Promise<boolean> {
  const mocha = path.join(copy, 'node_modules/mocha/bin/mocha.js');
  const child = spawn(process.execPath, [mocha, '--bail', '--exit', ...files], {
    cwd: copy,
    stdio: 'ignore',
    detached: true,
  });
  const pid = child.pid ?? 0;
  running.add(pid);
  const timer = setTimeout(() => kill(pid), milliseconds);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  // A suite that was cut short leaves the services that it started.
  kill(pid);
  running.delete(pid);
  return code === 0;
}

/** Ends the process group that `pid` leads. */
function kill(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of its processes have ended.
  }
}

function describeMutation({ file, line, before, after }: Mutation): string {
  const short = (code: string) => {
    const oneLine = code.replaceAll(/\s+/g, ' ');
    return oneLine.length > 60 ? `${oneLine.slice(0, 59)}…` : oneLine;
  };
  return `${file}:${line}  ${short(before)}  →  ${after === ';' ? '(removed)' : short(after)}`;
}

function report(): void {
  const caught = mutations.length - survivors.length;
  if (survivors.length > 0) console.log('\nSurvived:');
  for (const line of survivors.map(describeMutation).toSorted()) console.log(`  ${line}`);
  const share = mutations.length === 0 ? 0 : caught / mutations.length;
  console.log(`\n${caught} of ${mutations.length} faults caught (${Math.round(share * 100)} %)`);
  process.exitCode = share >= LOWEST_SHARE ? 0 : 1;
}
