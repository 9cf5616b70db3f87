// `npm run bench [-- NAME…]`: measures every row (or those named) beside what it is compared with, prints one table
// and writes it to dist/bench.json. Whatever a row starts ends with it, at the latest when its time is up.
// The exit code tells whether everything could be measured and met its goal.
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { projectRoot } from '../workbench/folders.ts';
import { startSupervised } from '../workbench/supervisedProcess.ts';
import type { Result } from './result.ts';
import { rows, type Row } from './rows.ts';
import { table } from './table.ts';

const names = process.argv.slice(2);
const unknown = names.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no row ${unknown.join(', ')}. There are: ${rows.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}

process.chdir(projectRoot);
// A short name: there are Unix sockets below it. Every row has its temporary files here, so that one whose time was up
// leaves none; Postgres, which does not run as root, has to reach them.
const scratch = await mkdtemp(path.join(os.tmpdir(), 'hpb-'));
await chmod(scratch, 0o755);
const results: Result[] = [];
const startedAt = Date.now();
try {
  for (const row of rows) {
    if (names.length === 0 || names.includes(row.name)) results.push(...(await measure(row)));
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}

const seconds = Math.round((Date.now() - startedAt) / 1000);
const [cpu] = os.cpus();
const machine = `${os.cpus().length} × ${cpu?.model ?? 'unknown'}, Node ${process.versions.node}, ${process.platform}`;
console.log(`\n${table(results)}\n\n${machine}; measured in ${seconds} s`);
await mkdir('dist', { recursive: true });
await writeFile('dist/bench.json', `${JSON.stringify({ machine, seconds, results }, null, 2)}\n`);
process.exitCode = results.every(({ met }) => met) ? 0 : 1;

async function measure(row: Row): Promise<readonly Result[]> {
  console.error(`measuring ${row.name}…`);
  const file = path.join(scratch, `${row.name}.json`);
  const args = [
    '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
    '--expose-gc',
    path.join(import.meta.dirname, 'row.ts'),
    row.name,
    file,
  ];
  const program = startSupervised(process.execPath, args, { env: { ...process.env, TMPDIR: scratch } });
  const timer = setTimeout(() => void program.stop(), row.limit * 1000);
  await program.exited;
  clearTimeout(timer);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined) return JSON.parse(text);
  const note = 'could not be measured';
  return [{ what: row.name, ours: '', beside: '', ratio: undefined, goal: '', met: false, note }];
}
