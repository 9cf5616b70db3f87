// `npm run bench [-- NAME…]`: measures all rows or the named ones, prints a table and writes dist/bench.json. The exit
// code is 0 only if every row could be measured and met its goal.
// Each row runs in its own process, which is ended with everything it started when its time limit is over.
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../test/workbench/folders.ts';
import { startSupervised } from '../../test/workbench/supervisedProcess.ts';
import { isNoisy, table, type Result } from './result.ts';

interface Row {
  readonly load: () => Promise<{ readonly measure: () => Promise<readonly Result[]> }>;
  readonly limitSeconds: number;
}

const rows: Readonly<Record<string, Row>> = {
  activation: { load: () => import('./activation.ts'), limitSeconds: 240 },
  size: { load: () => import('./size.ts'), limitSeconds: 60 },
  'first-tree': { load: () => import('./firstTree.ts'), limitSeconds: 60 },
  refresh: { load: () => import('./refresh.ts'), limitSeconds: 60 },
  memory: { load: () => import('./memory.ts'), limitSeconds: 150 },
  'memory-in-use': { load: () => import('./memoryInUse.ts'), limitSeconds: 240 },
  typing: { load: () => import('./typing.ts'), limitSeconds: 60 },
  service: { load: () => import('./service.ts'), limitSeconds: 60 },
  start: { load: () => import('./startTime.ts'), limitSeconds: 120 },
  installed: { load: () => import('./installed.ts'), limitSeconds: 300 },
  // Builds for development, so it follows the rows that need the build for production.
  commands: { load: () => import('./commands.ts'), limitSeconds: 240 },
  'wake-up': { load: () => import('./wakeUp.ts'), limitSeconds: 150 },
  branches: { load: () => import('./branches.ts'), limitSeconds: 600 },
  'new-branch': { load: () => import('./newBranch.ts'), limitSeconds: 300 },
  rehearsal: { load: () => import('./rehearsal.ts'), limitSeconds: 300 },
  'rehearsal-times': { load: () => import('./rehearsalTimes.ts'), limitSeconds: 2400 },
  undo: { load: () => import('./undo.ts'), limitSeconds: 300 },
  history: { load: () => import('./history.ts'), limitSeconds: 240 },
  replication: { load: () => import('./replication.ts'), limitSeconds: 240 },
  'git-branch': { load: () => import('./gitBranch.ts'), limitSeconds: 120 },
  gateway: { load: () => import('./gateway.ts'), limitSeconds: 240 },
  'npm-start': { load: () => import('./npmStart.ts'), limitSeconds: 120 },
  'compare-rows': { load: () => import('./compareRows.ts'), limitSeconds: 600 },
  clone: { load: () => import('./clone.ts'), limitSeconds: 120 },
  'test-suite': { load: () => import('./testSuite.ts'), limitSeconds: 180 },
  // Needs the browser and VS Code's server.
  window: { load: () => import('./window.ts'), limitSeconds: 300 },
  peers: { load: () => import('./peers.ts'), limitSeconds: 1200 },
};

const { values, positionals: names } = parseArgs({
  options: { output: { type: 'string' } },
  allowPositionals: true,
});
const unknown = names.filter((name) => rows[name] === undefined);
if (unknown.length > 0) {
  console.error(`Unknown row: ${unknown.join(', ')}. Rows: ${Object.keys(rows).join(', ')}`);
  process.exit(2);
}
process.chdir(projectRoot);
if (values.output === undefined) await measureAll();
else await measureHere(values.output);

/** Measures one row in this process and writes its results to a file. */
async function measureHere(file: string): Promise<void> {
  const row = rows[names[0] ?? ''];
  if (row === undefined) throw new Error('--output needs the name of a row');
  const { measure } = await row.load();
  await writeFile(file, JSON.stringify(await measure()));
  process.exit(0);
}

async function measureAll(): Promise<void> {
  // Temporary files of all rows go here, so that an ended row leaves none. The name is short because of the Unix sockets
  // below it, and the mode lets Postgres reach them, which does not run as root.
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'hpb-'));
  await chmod(scratch, 0o755);
  const results: Result[] = [];
  const startedAt = Date.now();
  try {
    for (const name of names.length > 0 ? names : Object.keys(rows)) {
      results.push(...(await measureInChild(name, scratch)));
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const [cpu] = os.cpus();
  const machine = `${os.cpus().length} × ${cpu?.model ?? 'unknown'}, Node ${process.versions.node}, ${process.platform}`;
  console.log(`\n${table(results)}\n\n${machine}; measured in ${seconds} s`);
  const noisy = results.filter(isNoisy).map(({ what }) => what);
  if (noisy.length > 0) console.log(`The machine was too busy to judge: ${noisy.join(', ')}`);
  await mkdir('dist', { recursive: true });
  await writeFile('dist/bench.json', `${JSON.stringify({ machine, seconds, results }, null, 2)}\n`);
  process.exitCode = results.every(({ met }) => met) ? 0 : 1;
}

async function measureInChild(name: string, scratch: string): Promise<readonly Result[]> {
  console.error(`measuring ${name}…`);
  const file = path.join(scratch, `${name}.json`);
  const args = ['--expose-gc', import.meta.filename, name, '--output', file];
  const child = startSupervised(process.execPath, args, { env: { ...process.env, TMPDIR: scratch } });
  const timer = setTimeout(() => void child.stop(), (rows[name]?.limitSeconds ?? 0) * 1000);
  await child.exited;
  clearTimeout(timer);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined) return JSON.parse(text);
  const note = 'could not be measured';
  return [{ what: name, ours: '', baseline: '', ratio: undefined, goal: '', met: false, note }];
}
