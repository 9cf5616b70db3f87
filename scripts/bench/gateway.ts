/** Transactions per second through the gateway, compared with a minimal relay to the same Postgres. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { startCompute } from './compute.ts';
import { findPgbench } from './pgbench.ts';
import { startProgram } from './program.ts';
import { comparison, measureInTurns, medianRatio, perSecond, type Result } from './result.ts';

const run = promisify(execFile);

const CLIENTS = [1, 8, 50];
const ROUNDS = 6;
/** A number instead of a duration, because opening 50 connections can take seconds on a busy machine. */
const TRANSACTIONS = 6_000;
const GOAL = 0.75;

/** Reads single rows with a number of clients. Returns transactions per second. */
type Load = (port: number, clients: number) => Promise<number>;

export async function measure(): Promise<readonly Result[]> {
  const pgbench = findPgbench();
  const compute = await startCompute();
  try {
    const uri = new URL(compute.uri);
    const load = await pgbenchLoad(pgbench, uri);
    await load(Number(uri.port), 1); // Starts the compute.
    const script = path.join(import.meta.dirname, 'relay.ts');
    const relay = await startProgram(process.execPath, [script, await compute.socket()]);
    try {
      const results: Result[] = [];
      for (const clients of CLIENTS) {
        const pairs = await measureInTurns(ROUNDS, 0, {
          ours: () => load(Number(uri.port), clients),
          baseline: () => load(Number(relay.line), clients),
        });
        results.push(
          comparison(pairs, {
            what: `gateway, ${clients} client${clients === 1 ? '' : 's'}`,
            unit: perSecond,
            baseline: 'minimal relay',
            goal: `≥ ${GOAL} ×`,
            met: medianRatio(pairs) >= GOAL,
            note: `pgbench -S, ${ROUNDS} × ${TRANSACTIONS} transactions each`,
          }),
        );
      }
      return results;
    } finally {
      await relay.stop();
    }
  } finally {
    await compute.stop();
  }
}

async function pgbenchLoad(program: string, uri: URL): Promise<Load> {
  const login = ['-h', '127.0.0.1', '-U', uri.username];
  // The relay leads to a Unix socket, on which Postgres has no TLS.
  const options = { env: { ...process.env, PGPASSWORD: uri.password, PGSSLMODE: 'disable' } };
  const database = uri.pathname.slice(1);
  await run(program, ['-i', '-q', ...login, '-p', uri.port, database], options);
  return async (port, clients) => {
    const flags = `-n -S -c ${clients} -j ${Math.min(clients, 2)} -t ${TRANSACTIONS / clients}`.split(' ');
    const { stdout } = await run(program, [...flags, ...login, '-p', `${port}`, database], options);
    const tps = /tps = ([\d.]+)/.exec(stdout)?.[1];
    if (tps === undefined) throw new Error(`No transactions per second in: ${stdout}`);
    return Number(tps);
  };
}
