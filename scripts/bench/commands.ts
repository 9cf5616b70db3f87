/** How long `npm start` takes to show VS Code. Everything is installed before. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '../../test/workbench/folders.ts';
import { startServer } from '../../test/workbench/server.ts';
import { until } from '../../test/workbench/until.ts';
import { comparison, measureInTurns, median, ms, type Result } from './result.ts';

const STARTS = 3;
const START_GOAL_MS = 15_000;

export async function measure(): Promise<readonly Result[]> {
  // The first start of each installs what is missing, so it is not counted.
  const pairs = await measureInTurns(STARTS, 1, { ours: timeToStart, baseline: timeToServer });
  return [
    comparison(pairs, {
      what: 'npm start',
      unit: ms,
      baseline: "VS Code's server alone",
      goal: `≤ ${START_GOAL_MS / 1000} s`,
      met: median(pairs.ours) <= START_GOAL_MS,
      note: `${STARTS} starts, until the printed address replies`,
    }),
  ];
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
