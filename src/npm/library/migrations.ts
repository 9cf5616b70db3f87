/** Fills the parent of the branches, and makes the hash by which a later run recognizes that parent. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { readChosenFile } from '../../base/files.ts';
import { extensionAdviceForOutput } from '../../base/sql/missingExtension.ts';
import { databaseVariables } from '../../api/addresses/databaseVariables.ts';
import { runSqlFiles, withClientOf } from '../../migrations/runSqlFiles.ts';
import { findProjectTools } from '../../migrations/shownTools.ts';
import { listFiles } from '../../migrations/sqlFiles.ts';
import type { BranchOptions, Step } from './types.d.ts';

/** The version of how steps run, and of what is saved. Parents of other versions aren't used. */
const VERSION = 7;

/** Returns 40 characters that change with the steps and their files. @throws {Error} if a file is missing */
export async function hashSteps(cwd: string, { from = '', migrate, seed }: BranchOptions): Promise<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([VERSION, from, ...[migrate, seed].map(commandOfStep)]));
  for (const step of [migrate, seed]) {
    // How a folder runs depends on the tool that the project uses.
    if (typeof step === 'string')
      hash.update((await findProjectTools(path.resolve(cwd, step))).map(({ name }) => name).join());
    for (const name of typeof step === 'string' ? [step] : (step?.files ?? [])) {
      for (const file of await listFiles(path.resolve(cwd, name))) {
        const content = createHash('sha256')
          .update(await readChosenFile(file))
          .digest('hex');
        hash.update(`${path.relative(cwd, file)} ${content}\n`);
      }
    }
  }
  return hash.digest('hex').slice(0, 40);
}

const commandOfStep = (step: Step | undefined): string =>
  typeof step === 'object' ? String(step.run) : (step ?? '');

/** Runs `migrate` or `seed`. @throws {Error} with the output of a command that failed, or file and line of SQL that failed */
export async function runStep(cwd: string, step: Step, url: string): Promise<void> {
  if (typeof step === 'string') await runSqlFiles(path.resolve(cwd, step), url);
  else if (typeof step.run === 'string') await runCommand(cwd, step.run, url);
  else await step.run(url);
}

/** @throws {Error} if the database has nothing that a user has created */
export async function requireNonEmptyDatabase(url: string): Promise<void> {
  const { rowCount } = await withClientOf(url, async (client) => client.query(USER_OBJECTS));
  if (rowCount === 0)
    throw new Error('Migrations and seed created nothing in the database. Do they connect to DATABASE_URL?');
}

/** The first id that Postgres gives to objects that aren't its own. */
const FIRST_NORMAL_ID = 16384;
/** Finds an object of a user. Nearly every object depends on another one, except for schemas, which are looked up separately. */
const USER_OBJECTS = `select from pg_depend where objid >= ${FIRST_NORMAL_ID}
  union all select from pg_namespace where oid >= ${FIRST_NORMAL_ID} limit 1`;

/** The most characters of a command's output that are kept. What failed is near the end. */
const MAX_OUTPUT = 50_000;
const keepEnd = (text: string): string =>
  text.length > MAX_OUTPUT ? `…${text.slice(1 - MAX_OUTPUT)}` : text;

async function runCommand(cwd: string, command: string, url: string): Promise<void> {
  const child = spawn(command, {
    cwd,
    shell: true,
    env: { ...process.env, ...databaseVariables(url) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = keepEnd(output + text)));
  const [code] = await once(child, 'close');
  if (code === 0) return;
  // Only messages of Postgres lead to advice. A tool that hides them, such as drizzle-kit, gets none.
  const advice = extensionAdviceForOutput(output);
  throw new Error(
    `${command} ended with ${String(code)}:\n${output}${advice === undefined ? '' : `\n${advice}`}`,
  );
}
