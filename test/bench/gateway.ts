/** Transactions per second through the gateway, compared with a minimal relay to the same Postgres. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { installedPostgres } from '../service/postgres/clients.ts';
import { startCompute } from './compute.ts';
import { startProgram } from './program.ts';
import { perSecond, type Result } from './result.ts';
import { median, medianRatio } from './stats.ts';

const run = promisify(execFile);

const CLIENTS = [1, 8, 50];
const ROUNDS = 6;
/** A number instead of a duration, because opening 50 connections can take seconds on a busy machine. */
const TRANSACTIONS = 6_000;
const GOAL = 0.75;

/** Reads single rows with a number of clients. Returns transactions per second. */
type Load = (port: number, clients: number) => Promise<number>;

export async function measure(): Promise<readonly Result[]> {
  const compute = await startCompute();
  try {
    const uri = new URL(compute.uri);
    const programs = installedPostgres();
    if (programs === undefined) throw new Error('pgbench is not installed');
    const load = await pgbenchLoad(path.join(programs, 'pgbench'), uri);
    await load(Number(uri.port), 1); // Starts the compute.
    const script = path.join(import.meta.dirname, 'relay.ts');
    const relay = await startProgram(process.execPath, [script, await compute.socket()]);
    try {
      const ports = { gateway: Number(uri.port), relay: Number(relay.line) };
      const note = `pgbench -S, ${ROUNDS} × ${TRANSACTIONS} transactions each`;
      const results: Result[] = [];
      for (const clients of CLIENTS) results.push(await compare(clients, load, ports, note));
      return results;
    } finally {
      await relay.stop();
    }
  } finally {
    await compute.stop();
  }
}

async function compare(
  clients: number,
  load: Load,
  ports: { readonly gateway: number; readonly relay: number },
  note: string,
): Promise<Result> {
  const [gateway, relay]: [number[], number[]] = [[], []];
  const turns = [
    async () => gateway.push(await load(ports.gateway, clients)),
    async () => relay.push(await load(ports.relay, clients)),
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  const ratio = medianRatio(gateway, relay);
  return {
    what: `gateway, ${clients} client${clients === 1 ? '' : 's'}`,
    ours: perSecond(median(gateway)),
    baseline: `${perSecond(median(relay))} minimal relay`,
    ratio,
    goal: `≥ ${GOAL} ×`,
    met: ratio >= GOAL,
    note,
  };
}

async function pgbenchLoad(program: string, uri: URL): Promise<Load> {
  const login = ['-h', '127.0.0.1', '-U', uri.username];
  const options = { env: { ...process.env, PGPASSWORD: uri.password } };
  const database = uri.pathname.slice(1);
  await run(program, ['-i', '-q', ...login, '-p', uri.port, database], options);
  return async (port, clients) => {
    const flags = `-n -S -c ${clients} -j ${Math.min(clients, 2)} -t ${TRANSACTIONS / clients}`.split(' ');
    return readTps(await run(program, [...flags, ...login, '-p', `${port}`, database], options));
  };
}

function readTps({ stdout }: { readonly stdout: string }): number {
  const tps = /tps = ([\d.]+)/.exec(stdout)?.[1];
  if (tps === undefined) throw new Error(`No transactions per second in: ${stdout}`);
  return Number(tps);
}
