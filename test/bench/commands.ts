/** How long a developer waits: for `npm start` to show VS Code, and for `npm test` to the end. Both on a warm clone. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { projectRoot } from '../workbench/folders.ts';
import { startServer } from '../workbench/server.ts';
import { until } from '../workbench/until.ts';
import { ms, type Result } from './result.ts';
import { median, medianRatio } from './stats.ts';

const STARTS = 3;
const START_GOAL_MS = 15_000;
const TEST_GOAL_MS = 240_000;

export async function measure(): Promise<readonly Result[]> {
  return [await starts(), await tests()];
}

async function starts(): Promise<Result> {
  const [ours, server]: [number[], number[]] = [[], []];
  for (let start = 0; start <= STARTS; start += 1) {
    ours.push(await timeToStart());
    server.push(await timeToServer());
  }
  // The first start of each installed what was missing.
  const time = median(ours.slice(1));
  return {
    what: 'npm start',
    ours: ms(time),
    beside: `${ms(median(server.slice(1)))} the server of VS Code alone`,
    ratio: medianRatio(ours.slice(1), server.slice(1)),
    goal: `≤ ${START_GOAL_MS / 1000} s`,
    met: time <= START_GOAL_MS,
    note: `${STARTS} starts, until the page it names is answered`,
  };
}

async function timeToStart(): Promise<number> {
  const startedAt = performance.now();
  const npm = spawn('npm', ['start', '--silent', '--', '--web', '--port', '0'], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(npm, 'exit');
  try {
    for await (const line of createInterface({ input: npm.stdout })) {
      const address = /http:\S+/.exec(line)?.[0];
      if (address === undefined) continue;
      await answered(address);
      return performance.now() - startedAt;
    }
    throw new Error(`npm start ended with ${npm.exitCode}`);
  } finally {
    // It ends with the npm that started it.
    npm.kill('SIGKILL');
    await ended;
  }
}

async function timeToServer(): Promise<number> {
  const dataFolder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
  const startedAt = performance.now();
  const server = await startServer({ dataFolder });
  try {
    await answered(server.address(dataFolder));
    return performance.now() - startedAt;
  } finally {
    await server.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}

async function answered(address: string): Promise<void> {
  // It keeps the token in a cookie and sends the browser on.
  const page = async () => {
    const reply = await fetch(address, { redirect: 'manual' }).catch(() => undefined);
    return reply !== undefined && reply.status < 400;
  };
  await until('the page', page, 30_000);
}

/** Once: it is the slowest thing there is. */
async function tests(): Promise<Result> {
  // Not in the folder of this row: its name is too long for the sockets of a Postgres that tests start below it.
  const env = { ...process.env, TMPDIR: path.dirname(os.tmpdir()) };
  const startedAt = performance.now();
  const { passed, said } = await promisify(execFile)('npm', ['test', '--silent'], {
    cwd: projectRoot,
    env,
    maxBuffer: 2 ** 26,
  }).then(
    ({ stdout }) => ({ passed: true, said: stdout }),
    (error: { stdout?: string }) => ({ passed: false, said: error.stdout ?? '' }),
  );
  const time = performance.now() - startedAt;
  return {
    what: 'npm test',
    ours: `${Math.round(time / 1000)} s`,
    beside: `${TEST_GOAL_MS / 1000} s allowed`,
    ratio: time / TEST_GOAL_MS,
    goal: '≤ 1 ×',
    met: passed && time <= TEST_GOAL_MS,
    note: said.trimEnd().split('\n').at(-1) ?? '',
  };
}
