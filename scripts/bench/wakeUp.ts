/**
 * The time from connecting to an idle compute to its first row. The baseline is the same Postgres binary with the same
 * arguments, on a copy of the branch's data, started directly.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { chmod, chown, cp, mkdtemp, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { startCompute } from './compute.ts';
import { comparison, measureInTurns, medianRatio, ms, quantile, timeOf, type Result } from './result.ts';

const WAKES = 100;
const GOAL = 1.5;

export async function measure(): Promise<readonly Result[]> {
  const compute = await startCompute();
  try {
    await compute.suspend();
    const plain = await copyPostgres(compute.dataDir);
    const { password, username, pathname } = new URL(compute.uri);
    const login = { user: username, password, database: pathname.slice(1) };
    const pairs = await measureInTurns(WAKES, 1, {
      ours: async () => {
        const time = await firstRow(compute.uri);
        await compute.suspend();
        return time;
      },
      baseline: async () => {
        let stop = async () => {};
        const starting = await timeOf(async () => (stop = await plain.start()));
        const time = starting + (await firstRow({ ...login, host: plain.host, port: plain.port }));
        await stop();
        return time;
      },
    });
    const p95 = (values: readonly number[]) => ms(quantile(values, 0.95));
    return [
      comparison(pairs, {
        what: 'wake-up',
        unit: ms,
        baseline: 'started directly',
        goal: `≤ ${GOAL} ×`,
        met: medianRatio(pairs) <= GOAL,
        note: `${WAKES} starts; p95 ${p95(pairs.ours)} and ${p95(pairs.baseline)}`,
      }),
    ];
  } finally {
    await compute.stop();
  }
}

/** Returns the milliseconds from connecting to the first row. */
async function firstRow(config: string | pg.ClientConfig): Promise<number> {
  const client = new pg.Client(config);
  const time = await timeOf(async () => {
    await client.connect();
    await client.query('select 1');
  });
  await client.end();
  return time;
}

interface PlainPostgres {
  /** Where clients connect: the folder of its Unix socket, and the port that names the socket. */
  readonly host: string;
  readonly port: number;
  /** Resolves when the server accepts connections, with a function that stops it. */
  start(): Promise<() => Promise<void>>;
}

/** @param dataDir the data directory of a server that has run and is stopped */
async function copyPostgres(dataDir: string): Promise<PlainPostgres> {
  const options = await readFile(path.join(dataDir, 'postmaster.opts'), 'utf8');
  const [program = '', ...rest] = splitOptions(options);
  const { uid, gid } = await stat(dataDir);
  // Next to the original, where the server's account has access.
  const folder = path.join(path.dirname(dataDir), 'plain');
  // Socket paths have a low limit, so it is not in the temporary folder of the bench.
  const socketFolder = await mkdtemp('/tmp/hpb-');
  process.once('exit', () => rmSync(socketFolder, { recursive: true, force: true }));
  const copy = path.join(folder, 'data');
  await cp(dataDir, copy, { recursive: true, preserveTimestamps: true });
  for (const created of [folder, copy]) await chmod(created, 0o700);
  for (const created of [socketFolder, ...(await allBelow(folder))]) await chown(created, uid, gid);
  const args = rest.map((argument) => {
    if (argument === dataDir) return copy;
    return argument.replace(/^(unix_socket_directories=).*/, `$1${socketFolder}`);
  });
  const port = args.find((argument) => argument.startsWith('port='))?.slice('port='.length);
  return {
    host: socketFolder,
    port: Number(port ?? 5432),
    start: () => startServer(program, args, { uid, gid, cwd: folder }),
  };
}

async function allBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  return [folder, ...entries.map((entry) => path.join(folder, entry))];
}

/** Splits the content of postmaster.opts: `program "argument" "argument"…`. */
const splitOptions = (text: string): string[] => {
  const [program = '', ...rest] = text.trim().split(' "');
  return [program, ...rest.map((argument) => argument.replace(/"$/, ''))];
};

async function startServer(
  program: string,
  args: readonly string[],
  options: { readonly uid: number; readonly gid: number; readonly cwd: string },
): Promise<() => Promise<void>> {
  const account = process.getuid?.() === 0 ? { uid: options.uid, gid: options.gid } : {};
  const child = spawn(program, args, {
    ...account,
    cwd: options.cwd,
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const output: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      output.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    child.once('exit', () => reject(new Error(`Postgres ended: ${output.join('\n')}`)));
  });
  return async () => {
    child.kill('SIGINT');
    await ended;
  };
}
