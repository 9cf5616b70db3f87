/**
 * The time from the command to the service's ready line, compared with a minimal Node program that listens. npm takes half of
 * the time of `npm run service`, so npm also starts the minimal program there.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../test/workbench/folders.ts';
import { timeToLine } from './program.ts';
import { comparison, measureInTurns, median, medianRatio, ms, type Result } from './result.ts';
import { projectsFile } from './sampleAccount.ts';
import { stage } from './staging.ts';

const STARTS = 5;
const GOAL_MS = 300;
/** Of the time in which npm starts a minimal program. */
const NPM_GOAL = 2;

const MINIMAL = `require('node:http').createServer().listen(0, '127.0.0.1', () => console.log('{"pid":' + process.pid + '}'))`;

export async function measure(): Promise<readonly Result[]> {
  const staged = await stage({ package: false });
  const projects = path.join(staged.folder, 'projects.json');
  // All computes are idle, so that no start of Postgres is measured.
  await writeFile(projects, projectsFile({ projects: 3, computesPerProject: 3 }));
  const options = ['--port', '0', '--projects', projects, '--data-dir'];
  const npm = ['npm', 'run', '--silent', 'service', '--', ...options];
  const scripts = { minimal: `${JSON.stringify(process.execPath)} minimal.js` };
  await writeFile(path.join(staged.folder, 'package.json'), JSON.stringify({ scripts }));
  await writeFile(path.join(staged.folder, 'minimal.js'), MINIMAL);
  const minimalByNpm = ['npm', '--prefix', staged.folder, 'run', '--silent', 'minimal'];
  const bundled = [process.execPath, path.join(staged.folder, 'dist', 'service.js'), ...options];
  try {
    // Without its cache, the first start builds a bundle, as after a change of the sources.
    await rm(path.join(projectRoot, 'node_modules/.cache/hosted-postgres'), { recursive: true, force: true });
    const first = await startOnce(npm);
    return [
      await compare('start, npm run service', npm, {
        baseline: minimalByNpm,
        than: 'npm with bare node:http',
        goal: `≤ ${NPM_GOAL} ×`,
        isMet: ({ ratio }) => ratio <= NPM_GOAL,
        remark: `${ms(first)} the first time after a change`,
      }),
      await compare('start, bundled', bundled, {
        baseline: [process.execPath, '-e', MINIMAL],
        than: 'bare node:http',
        goal: `≤ ${GOAL_MS} ms`,
        isMet: ({ time }) => time <= GOAL_MS,
      }),
    ];
  } finally {
    await staged.remove();
  }
}

interface Comparison {
  readonly baseline: readonly string[];
  /** What the baseline is. */
  readonly than: string;
  readonly goal: string;
  readonly isMet: (measured: { readonly time: number; readonly ratio: number }) => boolean;
  readonly remark?: string;
}

async function compare(
  what: string,
  command: readonly string[],
  { baseline, than, goal, isMet, remark }: Comparison,
): Promise<Result> {
  // The first start of each reads its files from the disk, so it is not counted.
  const pairs = await measureInTurns(STARTS, 1, {
    ours: () => startOnce(command),
    baseline: () => timeToReady(baseline),
  });
  return comparison(pairs, {
    what,
    unit: ms,
    baseline: than,
    goal,
    met: isMet({ time: median(pairs.ours), ratio: medianRatio(pairs) }),
    note: [`${STARTS} starts, each with a new data directory`, remark].filter(Boolean).join('; '),
  });
}

/** Appends a new data directory to the command and runs it. */
async function startOnce(command: readonly string[]): Promise<number> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
  const time = await timeToReady([...command, folder]);
  await rm(folder, { recursive: true, force: true });
  return time;
}

const timeToReady = async (command: readonly string[]): Promise<number> =>
  timeToLine(command, { cwd: projectRoot }, async (program) => program.stop(pidIn(program.line)));

/** The service prints its process id. A signal to npm would not reach it. */
const pidIn = (line: string): number | undefined =>
  line.startsWith('{') ? (JSON.parse(line) as { readonly pid: number }).pid : undefined;
