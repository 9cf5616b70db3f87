/** How long `npm start` takes to show VS Code, and `npm test` to finish. Everything is installed before. */
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
import { comparison, measureInTurns, median, ms, type Result } from './result.ts';

const STARTS = 3;
const START_GOAL_MS = 15_000;
const TEST_GOAL_MS = 240_000;

export async function measure(): Promise<readonly Result[]> {
  return [await starts(), await tests()];
}

async function starts(): Promise<Result> {
  // The first start of each installs what is missing, so it is not counted.
  const pairs = await measureInTurns(STARTS, 1, { ours: timeToStart, baseline: timeToServer });
  return comparison(pairs, {
    what: 'npm start',
    unit: ms,
    baseline: "VS Code's server alone",
    goal: `≤ ${START_GOAL_MS / 1000} s`,
    met: median(pairs.ours) <= START_GOAL_MS,
    note: `${STARTS} starts, until the printed address replies`,
  });
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
      await waitForPage(address);
      return performance.now() - startedAt;
    }
    throw new Error(`npm start ended with ${npm.exitCode}`);
  } finally {
    // The server ends with npm.
    npm.kill('SIGKILL');
    await ended;
  }
}

async function timeToServer(): Promise<number> {
  const dataFolder = await mkdtemp(path.join(os.tmpdir(), 'hosted-postgres-bench-'));
  const startedAt = performance.now();
  const server = await startServer({ dataFolder });
  try {
    await waitForPage(server.address(dataFolder));
    return performance.now() - startedAt;
  } finally {
    await server.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}

async function waitForPage(address: string): Promise<void> {
  // The reply is a redirect that stores the token in a cookie.
  const page = async () => {
    const reply = await fetch(address, { redirect: 'manual' }).catch(() => undefined);
    return reply !== undefined && reply.status < 400;
  };
  await until('the page', page, 30_000);
}

/** Runs only once, because it takes minutes. */
async function tests(): Promise<Result> {
  // Not in this row's temporary folder: its path is too long for the Unix sockets that the tests create in it.
  const env = { ...process.env, TMPDIR: path.dirname(os.tmpdir()) };
  const startedAt = performance.now();
  const { passed, output } = await promisify(execFile)('npm', ['test', '--silent'], {
    cwd: projectRoot,
    env,
    maxBuffer: 2 ** 26,
  }).then(
    ({ stdout }) => ({ passed: true, output: stdout }),
    (error: { stdout?: string }) => ({ passed: false, output: error.stdout ?? '' }),
  );
  const time = performance.now() - startedAt;
  return {
    what: 'npm test',
    ours: `${Math.round(time / 1000)} s`,
    baseline: `${TEST_GOAL_MS / 1000} s allowed`,
    ratio: time / TEST_GOAL_MS,
    goal: '≤ 1 ×',
    met: passed && time <= TEST_GOAL_MS,
    note: output.trimEnd().split('\n').at(-1) ?? '',
  };
}
