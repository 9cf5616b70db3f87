/** Transactions per second through a compute's address, beside a Postgres of the same data that listens itself. */
import { execFile } from 'node:child_process';
import { access, readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startCompute } from './compute.ts';
import { freePort } from './freePort.ts';
import { copyByHand } from './handmade.ts';
import { perSecond, type Result } from './result.ts';
import { median, medianRatio } from './stats.ts';

const run = promisify(execFile);

const CLIENTS = [1, 8, 50];
const ROUNDS = 3;
const SECONDS = 2;
const GOAL = 0.9;

/** Asks for single rows with so many clients. @returns transactions per second */
type Load = (port: number, clients: number) => Promise<number>;

export async function measure(): Promise<readonly Result[]> {
  const compute = await startCompute();
  try {
    const uri = new URL(compute.uri);
    const pgbench = await findPgbench();
    const load = pgbench === undefined ? driverLoad(uri) : await pgbenchLoad(pgbench, uri);
    await load(Number(uri.port), 1); // Makes the data.
    await compute.suspend();
    const directPort = await freePort();
    const listening = ['-c', 'listen_addresses=127.0.0.1', '-c', `port=${directPort}`];
    const direct = await copyByHand(compute.dataDir, listening);
    const stop = await direct.start();
    try {
      const name = pgbench === undefined ? 'a driver (pgbench is not installed)' : 'pgbench -S';
      const results: Result[] = [];
      for (const clients of CLIENTS) {
        results.push(await compare(name, clients, load, { ours: Number(uri.port), direct: directPort }));
      }
      return results;
    } finally {
      await stop();
    }
  } finally {
    await compute.stop();
  }
}

async function compare(
  name: string,
  clients: number,
  load: Load,
  ports: { readonly ours: number; readonly direct: number },
): Promise<Result> {
  const [ours, direct]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await load(ports.ours, clients));
    direct.push(await load(ports.direct, clients));
  }
  const ratio = medianRatio(ours, direct);
  return {
    what: `gateway, ${clients} client${clients === 1 ? '' : 's'}`,
    ours: perSecond(median(ours)),
    beside: `${perSecond(median(direct))} direct, TCP`,
    ratio,
    goal: `≥ ${GOAL} ×`,
    met: ratio >= GOAL,
    note: `${name}, ${ROUNDS} × ${SECONDS} s each; bytes are passed on in user space, on the cores that client and server fill`,
  };
}

async function pgbenchLoad(program: string, uri: URL): Promise<Load> {
  const login = ['-h', '127.0.0.1', '-U', uri.username];
  const options = { env: { ...process.env, PGPASSWORD: uri.password } };
  const database = uri.pathname.slice(1);
  await run(program, ['-i', '-q', ...login, '-p', uri.port, database], options);
  return async (port, clients) => {
    const wanted = ['-n', '-S', '-c', `${clients}`, '-j', `${Math.min(clients, 2)}`, '-T', `${SECONDS}`];
    return readTps(await run(program, [...wanted, ...login, '-p', `${port}`, database], options));
  };
}

const driverLoad =
  (uri: URL): Load =>
  async (port, clients) => {
    const script = path.join(import.meta.dirname, 'driverLoad.ts');
    const args = [port, uri.username, uri.pathname.slice(1), clients, SECONDS].map(String);
    const quiet = '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON';
    const env = { ...process.env, PGPASSWORD: uri.password };
    return readTps(await run(process.execPath, [quiet, script, ...args], { env }));
  };

function readTps({ stdout }: { readonly stdout: string }): number {
  const tps = /tps = ([\d.]+)/.exec(stdout)?.[1];
  if (tps === undefined) throw new Error(`No transactions per second in: ${stdout}`);
  return Number(tps);
}

/** On the PATH, or where Debian keeps the programs of each version. */
async function findPgbench(): Promise<string | undefined> {
  const debian = '/usr/lib/postgresql';
  const versions = await readdir(debian).catch(() => []);
  const folders = [
    ...(process.env['PATH'] ?? '').split(path.delimiter),
    ...versions.map((version) => path.join(debian, version, 'bin')),
  ];
  for (const folder of folders) {
    const file = path.join(folder, 'pgbench');
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}
