/** Commits a second of pgbench on a branch, compared with those on a branch of another project. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { branchCalls, type Api } from '../../test/helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../test/helpers/localService.ts';
import { findPgbench } from './pgbench.ts';
import { comparison, measureInTurns, medianRatio, perSecond, type Result } from './result.ts';

const run = promisify(execFile);
/** Seconds of each round. */
const DURATION = 8;
const CLIENTS = 4;
/** About 50 MB. */
const SCALE = 3;

interface CommitsRow {
  readonly what: string;
  readonly rounds: number;
  /** The project that is measured, and the one that it is compared with. */
  readonly projects: { readonly ours: object; readonly baseline: object };
  /** What the other one is. */
  readonly baseline: string;
  readonly goal: number;
  /** What is said about the result at the end. */
  readonly note: (service: LocalService) => string;
}

export async function measureCommits(row: CommitsRow): Promise<readonly Result[]> {
  const pgbench = findPgbench();
  const service = await startLocalService();
  try {
    const api = branchCalls(service);
    const ours = await createProject(api, pgbench, row.projects.ours);
    const baseline = await createProject(api, pgbench, row.projects.baseline);
    const pairs = await measureInTurns(row.rounds, 1, {
      ours: async () => commits(pgbench, ours),
      baseline: async () => commits(pgbench, baseline),
    });
    return [
      comparison(pairs, {
        what: row.what,
        unit: perSecond,
        baseline: row.baseline,
        goal: `≥ ${row.goal} ×`,
        met: medianRatio(pairs) >= row.goal,
        note: `commits of ${CLIENTS} clients of pgbench; ${row.note(service)}`,
      }),
    ];
  } finally {
    await service.stop();
  }
}

/** @returns the connection string of its branch */
async function createProject(api: Api, pgbench: string, project: object): Promise<string> {
  const uri = api.uri(await api.change('POST', '', { project }));
  await run(pgbench, ['-i', '-q', '-s', String(SCALE), uri]);
  return uri;
}

async function commits(pgbench: string, uri: string): Promise<number> {
  const { stdout } = await run(pgbench, ['-n', '-c', String(CLIENTS), '-T', String(DURATION), uri]);
  return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
}
