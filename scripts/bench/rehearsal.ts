/**
 * What a rehearsal costs, compared with a new branch and the migration tool's own run on it: of a migration that loses nothing, and of one
 * that drops a column, whose values are counted on a second branch.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../test/workbench/folders.ts';
import { startRehearsals, type Rehearsals } from '../../test/real/rehearsal/rehearsals.ts';
import { runStatements } from '../../test/real/service/postgres/clients.ts';
import { comparison, measureInTurns, medianRatio, ms, timeOf, type Result } from './result.ts';

const ROUNDS = 7;
const GOAL = 1.5;
const SCHEMA = [
  'create table users (id int primary key, nick text, email text)',
  `insert into users select g, 'nick' || g, 'email' || g from generate_series(1, 100000) g`,
];
const SAFE = [
  'begin',
  'alter table users add column age int',
  'create table visits (id int primary key, "user" int references users)',
  'create index on users (email)',
  'commit',
];
const LOSING = [...SAFE.slice(0, -1), 'alter table users drop column nick', 'commit'];

export async function measure(): Promise<readonly Result[]> {
  const rehearsals = await startRehearsals();
  try {
    await runStatements(rehearsals.url, ...SCHEMA);
    return [
      await compare(rehearsals, 'rehearsal', SAFE),
      await compare(rehearsals, 'rehearsal with losses', LOSING),
      await compare(rehearsals, 'rehearsal with losses', LOSING, 2),
    ];
  } finally {
    await rehearsals.service.stop();
  }
}

/** @param branches that the baseline makes before the run */
async function compare(
  rehearsals: Rehearsals,
  what: string,
  migration: readonly string[],
  branches = 1,
): Promise<Result> {
  const run = async ({ url }: { readonly url: string }) => runTool(url, migration);
  const pairs = await measureInTurns(ROUNDS, 1, {
    ours: async () => timeOf(async () => rehearsals.rehearse(run)),
    baseline: async () =>
      timeOf(async () => {
        for (let made = 1; made < branches; made += 1) await rehearsals.copy();
        await run(await rehearsals.copy());
      }),
  });
  return comparison(pairs, {
    what,
    unit: ms,
    baseline: branches === 1 ? 'branch and run' : `${branches} branches and run`,
    goal: `≤ ${GOAL} ×`,
    met: medianRatio(pairs) <= GOAL,
    note: `${migration.length} statements on 100,000 rows`,
  });
}

/** A separate program, as migration tools are. @returns its exit code */
async function runTool(url: string, statements: readonly string[]): Promise<number> {
  const program = `const client = new (require('pg').Client)(process.env.DATABASE_URL);
    (async () => {
      await client.connect();
      for (const sql of ${JSON.stringify(statements)}) await client.query(sql);
      await client.end();
    })();`;
  const env = { ...process.env, DATABASE_URL: url, NODE_PATH: path.join(projectRoot, 'node_modules') };
  await promisify(execFile)(process.execPath, ['-e', program], { env });
  return 0;
}
