/**
 * Reads the schema of a database as SQL with pg_dump. The Postgres from npm has none, so there, a pg_dump that is compiled to
 * WebAssembly runs instead.
 */
import type Client from 'pg/lib/client.js';
import { lockAdvice } from '../../../base/sql/lockHolders.ts';
import { asEngineError, EngineError } from '../../core/computeEngine.ts';
import { SUPERUSER } from '../../core/systemNames.ts';
import { pgDumpModule, programNextTo } from '../server/programs.ts';
import type { EngineDependencies } from '../template/clusterTemplate.ts';
import { libpqConnectionString, plainSocketOptions, type ServerAddress } from '../server/serverAddress.ts';
import { withSuperuser, sessionOptions } from '../server/superuser.ts';
import { runProgram } from '../server/runProgram.ts';
import { runPgDumpModule } from './pgDumpModule.ts';

/** The dump must not wait long for a user's open transaction, because the branch is locked in the meantime. */
const ARGUMENTS = ['--schema-only', '--encoding=UTF8', '--lock-wait-timeout=10s'];

/** @throws {EngineError} which names who holds a lock that pg_dump needs */
export async function dumpSchema(
  deps: EngineDependencies,
  address: ServerAddress,
  database: string,
): Promise<string> {
  try {
    await withSuperuser(deps, address, waitForViews, database);
    return await runPgDump(deps, address, database);
  } catch (error) {
    const advice = await withSuperuser(deps, address, lockAdvice, database).catch(() => undefined);
    throw error instanceof EngineError && advice !== undefined
      ? new EngineError(`${error.message.replace(/\.?$/, '.')} ${advice}`, { cause: error })
      : error;
  }
}

/**
 * The `--lock-wait-timeout` of pg_dump is only for tables: it would wait for ever for the definition of a locked view.
 * `pg_relation_size` waits for the same lock, so the wait happens here, under the `lock_timeout` of `client`.
 * @throws {EngineError}
 */
async function waitForViews(client: Client): Promise<void> {
  try {
    await client.query(`select pg_catalog.pg_relation_size(oid) from pg_catalog.pg_class
      where relkind operator(pg_catalog.=) any ('{v,m,f}'::pg_catalog."char"[]) and relnamespace operator(pg_catalog.<>) all
        (array['pg_catalog'::pg_catalog.regnamespace, 'information_schema'::pg_catalog.regnamespace]::pg_catalog.oid[])`);
  } catch (error) {
    throw asEngineError(error);
  }
}

async function runPgDump(
  { binaries, logins, storage, shutdownSignal: signal }: EngineDependencies,
  address: ServerAddress,
  database: string,
): Promise<string> {
  const login = {
    ...address,
    user: SUPERUSER,
    dbname: database,
    options: sessionOptions(binaries.major),
    sslmode: 'disable',
  };
  const program = programNextTo(binaries.folder, 'pg_dump');
  if (program !== undefined) {
    const args = [...ARGUMENTS, '--dbname', libpqConnectionString(login)];
    const env = { PGPASSWORD: logins.superuser };
    return withoutRestrictLines(await runProgram(program, args, { cwd: storage.root, env, signal }));
  }
  const module = pgDumpModule(binaries.folder);
  if (module === undefined)
    throw new EngineError(
      `The schema needs pg_dump, which is not in ${binaries.folder}. Install the client programs of Postgres ${binaries.major} there.`,
    );
  const args = [...ARGUMENTS, '--dbname', libpqConnectionString({ ...login, password: logins.superuser })];
  return withoutRestrictLines(
    await runPgDumpModule(module, args, { ...plainSocketOptions(address), signal }),
  );
}

/** Returns the dump as the public service does: without the lines for psql, which have a new random key each time. */
function withoutRestrictLines(text: string): string {
  // Lines of functions and comments can look the same, but can't have the key.
  const key = /^\\restrict (\S+)$/m.exec(text)?.[1];
  return text
    .split('\n')
    .filter((line) => line !== `\\restrict ${key}` && line !== `\\unrestrict ${key}`)
    .join('\n')
    .replaceAll(/\n{3}(?=-- Dumped from|$)/g, '\n\n');
}
