/** From the command to the service's ready line, beside the least a Node program that listens takes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { projectRoot } from '../workbench/folders.ts';
import { account } from './account.ts';
import { startProgram } from './program.ts';
import { ms, type Result } from './result.ts';
import { stage } from './staging.ts';
import { median, medianRatio } from './stats.ts';

const STARTS = 5;
const GOAL_MS = 300;

const LEAST = `require('node:http').createServer().listen(0, '127.0.0.1', () => console.log('ready'))`;

export async function measure(): Promise<readonly Result[]> {
  const staged = await stage({ package: false });
  const projects = path.join(staged.folder, 'projects.json');
  // Idle ones: the first start of Postgres is no part of the service's own, and would have to be waited for at the end.
  await writeFile(projects, JSON.stringify(account({ projects: 3, computesPerProject: 3 })));
  const options = ['--port', '0', '--projects', projects, '--data-dir'];
  const quiet = '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON';
  const commands = {
    'start, npm run service': ['npm', 'run', '--silent', 'service', '--', ...options],
    'start, from source': [process.execPath, quiet, 'src/service/main.ts', ...options],
    'start, bundled': [process.execPath, path.join(staged.folder, 'dist', 'service.js'), ...options],
  };
  try {
    const results: Result[] = [];
    for (const [what, command] of Object.entries(commands)) results.push(await compare(what, command));
    return results;
  } finally {
    await staged.remove();
  }
}

async function compare(what: string, command: readonly string[]): Promise<Result> {
  const [ours, least]: [number[], number[]] = [[], []];
  for (let start = 0; start <= STARTS; start += 1) {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
    ours.push(await timeToLine([...command, folder]));
    least.push(await timeToLine([process.execPath, '-e', LEAST]));
    await rm(folder, { recursive: true, force: true });
  }
  // The first start of each read its files from the disk.
  const time = median(ours.slice(1));
  return {
    what,
    ours: ms(time),
    beside: `${ms(median(least.slice(1)))} bare node:http`,
    ratio: medianRatio(ours.slice(1), least.slice(1)),
    goal: `≤ ${GOAL_MS} ms`,
    met: time <= GOAL_MS,
    note: `${STARTS} starts, each with a new data directory`,
  };
}

async function timeToLine([command = '', ...args]: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const program = await startProgram(command, args, { cwd: projectRoot });
  const time = performance.now() - startedAt;
  await program.stop(pidIn(program.line));
  return time;
}

/** The service tells its own id: a signal for npm would not reach it. */
const pidIn = (line: string): number | undefined =>
  line.startsWith('{') ? (JSON.parse(line) as { readonly pid: number }).pid : undefined;
