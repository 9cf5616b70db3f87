/** Commits a second of pgbench on a branch with history, compared with one without. Copies for the history are made at the same time. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { branchCalls, storageOf, type Api } from '../../test/helpers/branchCalls.ts';
import { startLocalService } from '../../test/helpers/localService.ts';
import { installedPostgres } from '../../test/real/service/postgres/clients.ts';
import { comparison, measureInTurns, medianRatio, perSecond, type Result } from './result.ts';

const run = promisify(execFile);
const ROUNDS = 7;
/** Seconds of each round. */
const DURATION = 8;
const CLIENTS = 4;
/** About 50 MB, so that bases are due several times. */
const SCALE = 3;
const GOAL = 0.95;

export async function measure(): Promise<readonly Result[]> {
  const programs = installedPostgres();
  if (programs === undefined) return [];
  const pgbench = path.join(programs, 'pgbench');
  const service = await startLocalService();
  try {
    const api = branchCalls(service);
    const uris = { ours: await createProject(api, pgbench), baseline: await createProject(api, pgbench, 0) };
    const pairs = await measureInTurns(ROUNDS, 1, {
      ours: async () => commits(pgbench, uris.ours),
      baseline: async () => commits(pgbench, uris.baseline),
    });
    const bases = readdirSync(path.join(storageOf(service), 'bases')).length;
    return [
      comparison(pairs, {
        what: 'history',
        unit: perSecond,
        baseline: 'without history',
        goal: `≥ ${GOAL} ×`,
        met: medianRatio(pairs) >= GOAL,
        note: `commits of ${CLIENTS} clients of pgbench; at the end, there were ${bases} bases`,
      }),
    ];
  } finally {
    await service.stop();
  }
}

/** @returns the connection string of its branch */
async function createProject(api: Api, pgbench: string, history_retention_seconds?: number): Promise<string> {
  const uri = api.uri(await api.change('POST', '', { project: { history_retention_seconds } }));
  await run(pgbench, ['-i', '-q', '-s', String(SCALE), uri]);
  return uri;
}

async function commits(pgbench: string, uri: string): Promise<number> {
  const { stdout } = await run(pgbench, ['-n', '-c', String(CLIENTS), '-T', String(DURATION), uri]);
  return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
}
