/**
 * What people would pick instead for tests and local work, side by side: PGlite, which is Postgres in the process of the test, and the
 * server of `prisma dev`, which has PGlite inside. They are too large to be dependencies, so they are installed for the measurement.
 */
import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createPgClient } from '../../src/base/sql/pgClient.ts';
import { builtTestLibrary } from '../../test/helpers/builtTestLibrary.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../test/helpers/localService.ts';
import { installProgram } from '../../test/helpers/npxProgram.ts';
import { projectRoot } from '../../test/workbench/folders.ts';
import { npm } from '../../test/workbench/install.ts';
import { processTree } from '../../test/workbench/processes.ts';
import { nextMessage, timeToLine } from './program.ts';
import {
  comparison,
  measureInTurns,
  medianRatio,
  megabytes,
  ms,
  pick,
  timeOf,
  type Pairs,
  type Result,
} from './result.ts';
import { FILES, PARALLEL, runFiles, SCHEMA, SEED, TABLES, TESTS, TRUNCATION } from './testSuite.ts';

const PACKAGES = ['@electric-sql/pglite@0.5.14', '@electric-sql/pglite-socket@0.2.17', '@prisma/dev@0.24.17'];
const ROUNDS = 5;
const STATEMENTS = 2000;
const CONNECTIONS = 10;
const TRANSACTIONS = 100;

type Side = 'ours' | 'pglite';

interface Peers {
  readonly program: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly service: LocalService;
}

export async function measure(): Promise<readonly Result[]> {
  const cwd = await installPeers();
  const service = await startLocalService();
  try {
    const env = {
      ...process.env,
      PROJECT: path.join(projectRoot, 'package.json'),
      LIBRARY: await builtTestLibrary(),
      NEON_API_HOST: service.baseUrl,
      NEON_API_KEY: service.key,
      SIZES: JSON.stringify({
        tables: TABLES,
        tests: TESTS,
        statements: STATEMENTS,
        connections: CONNECTIONS,
      }),
    };
    const peers = { program: path.join(cwd, 'peer.mjs'), cwd, env, service };
    return [
      ...(await compareTestFile(peers)),
      await compareSuite(peers),
      await compareStart(peers),
      ...(process.platform === 'linux' ? [await compareMemory(peers)] : []),
      ...(await compareLoops(peers)),
      await compareConnections(peers),
    ];
  } finally {
    await service.stop();
  }
}

async function installPeers(): Promise<string> {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
  await npm(['install', '--ignore-scripts', ...PACKAGES], folder);
  copyFileSync(path.join(import.meta.dirname, 'peer.mjs'), path.join(folder, 'peer.mjs'));
  for (const [name, text] of Object.entries({ schema: SCHEMA, seed: SEED, truncation: TRUNCATION }))
    writeFileSync(path.join(folder, `${name}.sql`), `${text}\n`);
  return folder;
}

/** Runs the program to its end. @returns the values that it prints */
async function run({ program, cwd, env }: Peers, work: string, side: Side): Promise<Record<string, number>> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, work, side], { cwd, env });
  return JSON.parse(stdout);
}

interface Row {
  readonly what: string;
  readonly unit: (value: number) => string;
  readonly note: string;
  readonly baseline?: string;
  /** The highest ratio; without it, the row is for information only. */
  readonly goal?: number;
}

const row = (pairs: Pairs, { baseline = 'PGlite', goal, ...texts }: Row): Result =>
  comparison(pairs, {
    ...texts,
    baseline,
    goal: goal === undefined ? '' : `≤ ${goal} ×`,
    met: goal === undefined || medianRatio(pairs) <= goal,
  });

async function compareTestFile(peers: Peers): Promise<readonly Result[]> {
  const file = (side: Side) => async () => {
    const startedAt = performance.now();
    const { peak = NaN } = await run(peers, 'testFile', side);
    return { time: performance.now() - startedAt, memory: peak / 1024 };
  };
  const files = await measureInTurns(ROUNDS, 1, { ours: file('ours'), baseline: file('pglite') });
  return [
    row(
      pick(files, ({ time }) => time),
      {
        what: 'test file',
        unit: ms,
        note: `${TESTS} tests, with the start of the process; the service runs already`,
        goal: 0.15,
      },
    ),
    row(
      pick(files, ({ memory }) => memory),
      { what: 'test file, memory', unit: megabytes, note: 'the most of the process of the tests', goal: 0.1 },
    ),
  ];
}

async function compareSuite(peers: Peers): Promise<Result> {
  const suite = (side: Side) => async () =>
    timeOf(() => runFiles(PARALLEL, () => run(peers, 'testFile', side)));
  const pairs = await measureInTurns(1, 0, { ours: suite('ours'), baseline: suite('pglite') });
  return row(pairs, { what: 'suite', unit: ms, note: `${FILES} such files, ${PARALLEL} at a time` });
}

async function compareStart({ program, cwd, env }: Peers): Promise<Result> {
  const npx = await installProgram();
  const toAnswer = (args: readonly string[]) => async () =>
    timeToLine([process.execPath, ...args], { cwd, env: { ...env, TMPDIR: temporaryFolder() } });
  const pairs = await measureInTurns(ROUNDS, 1, {
    ours: toAnswer([npx, '--temporary', '--run', 'echo ANSWERED']),
    baseline: toAnswer([program, 'prismaStart']),
  });
  return row(pairs, {
    what: 'start, first answer',
    unit: ms,
    note: 'a temporary service, and a server without a state',
    baseline: 'prisma dev',
    goal: 0.35,
  });
}

/** What the program sends: the address of a database, or how many are open. */
interface Message {
  readonly url?: string;
  readonly open?: number;
}

/** @param work gets the process and a function that waits for its next message */
async function withProgram<T>(
  { program, cwd, env }: Peers,
  args: readonly [string, Side],
  work: (child: ChildProcess, next: () => Promise<Message>) => Promise<T>,
): Promise<T> {
  const child = fork(program, args, {
    cwd,
    env,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  try {
    return await work(child, async () => (await nextMessage(child, ended)) as Message);
  } finally {
    if (child.connected) child.disconnect();
    await ended;
  }
}

async function compareMemory(peers: Peers): Promise<Result> {
  const growth = (side: Side) => async () =>
    withProgram(peers, ['hold', side], async (child, next) => {
      const used = async () => (await usedBy(child.pid ?? 0)) + (await usedBy(peers.service.pid));
      const { open: first = NaN } = await next();
      const before = await used();
      child.send('more');
      const { open: all = NaN } = await next();
      return ((await used()) - before) / (all - first);
    });
  const pairs = await measureInTurns(3, 1, { ours: growth('ours'), baseline: growth('pglite') });
  const note =
    'each further one with a client; processes and service, with what they share divided among them';
  return row(pairs, { what: 'memory of an open database', unit: megabytes, note });
}

/** The proportional set size of a process and all that it has started. Megabytes. */
async function usedBy(root: number): Promise<number> {
  let kilobytes = 0;
  for (const pid of await processTree([root])) {
    // A process may have ended.
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    kilobytes += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  }
  return kilobytes / 1024;
}

async function compareLoops(peers: Peers): Promise<readonly Result[]> {
  const loop = (side: Side) => async () => run(peers, 'loops', side);
  const loops = await measureInTurns(3, 1, { ours: loop('ours'), baseline: loop('pglite') });
  const note = `${STATEMENTS.toLocaleString('en-US')} statements after each other; ours cross a socket, and commits wait for no disk`;
  return ['write', 'read'].map((kind) =>
    row(
      pick(loops, (times) => times[kind] ?? NaN),
      { what: `${kind} loop`, unit: ms, note },
    ),
  );
}

async function compareConnections(peers: Peers): Promise<Result> {
  const together = (side: Side) => async () =>
    withProgram(peers, ['serve', side], async (_, next) => {
      const { url: connectionString = '' } = await next();
      const clients = Array.from({ length: CONNECTIONS }, () => createPgClient({ connectionString }));
      await Promise.all(clients.map(async (client) => client.connect()));
      const time = await timeOf(() =>
        Promise.all(
          clients.map(async (client, index) => {
            for (let n = 0; n < TRANSACTIONS; n += 1) {
              await client.query('begin');
              await client.query('update event set name = $1 where id = $2', [`name ${n}`, index + 1]);
              await client.query('commit');
            }
          }),
        ),
      );
      await Promise.all(clients.map(async (client) => client.end()));
      return time;
    });
  const pairs = await measureInTurns(3, 1, { ours: together('ours'), baseline: together('pglite') });
  const note = `${TRANSACTIONS} transactions each; those of PGlite's socket share one session, so settings and temporary tables can't be compared`;
  return row(pairs, { what: `${CONNECTIONS} connections`, unit: ms, note });
}
