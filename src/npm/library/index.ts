/** `hosted-postgres/test`: a branch or a database for each test file, and a clone of it for each test. See TESTS.md. */
import { randomBytes } from 'node:crypto';
import type Client from 'pg/lib/client.js';
import { withDatabase } from '../../api/addresses/databaseUrl.ts';
import type { ServiceApi } from '../api.ts';
import { copyDatabase, dropDatabase } from './copyDatabase.ts';
import { isMakerRunning, MAKER_PATTERN, decodeMaker, encodeMaker, type DatabaseMaker } from './maker.ts';
import { openDatabase } from './openDatabase.ts';
import {
  SHARED_BRANCH_PREFIX,
  TEMPLATE_DATABASE,
  withMigratedParent,
  type MigratedParent,
} from './parents.ts';
import { DatabaseReset } from './reset.ts';
import { closeClient, openClient } from './testClient.ts';
import type { BranchOptions, TestBranch, TestDatabase } from './types.d.ts';

/** Milliseconds after which a forgotten branch is deleted. */
const LIFETIME = 6 * 3600_000;

/** Creates a branch with the migrations for one test file: see `types.d.ts`. */
export async function branch(options: BranchOptions = {}): Promise<TestBranch> {
  return withMigratedParent(options, async (api, { projectId, id: parent }, me) => {
    const name = `test ${me.pid} ${crypto.randomUUID()}`;
    const created = await api.createBranch(projectId, { name, parent, maker: me, lifetime: LIFETIME });
    if (created === undefined) throw new Error(`There is already a branch ${name}`);
    const { id, url } = created;
    const prefix = 'hosted_postgres_';
    const opened = openDatabase(url, {
      prefix,
      reset: new DatabaseReset(url, TEMPLATE_DATABASE, `${prefix}reset`),
      connect: async () => openClient(withDatabase(url, 'postgres')),
      remove: async () => api.delete(created),
    });
    return { ...opened, id };
  });
}

/** Creates a database for one test file, in which the migrations were run: see `types.d.ts`. */
export async function database(options: BranchOptions = {}): Promise<TestDatabase> {
  return withMigratedParent(options, async (api, parent, me) => {
    const server = await findOrCreateSharedUrl(api, parent, me);
    // Until the process or thread has ended, the name shows that the database is in use. A connection couldn't show it, because any
    // test may end it.
    const name = `test_${encodeMaker(me)}_${randomBytes(4).toString('hex')}`;
    const connect = async () => openClient(withDatabase(server, 'postgres'));
    const admin = await connect();
    try {
      await dropAbandoned(admin);
      await copyDatabase(admin, TEMPLATE_DATABASE, name);
    } catch (error) {
      await closeClient(admin);
      throw error;
    }
    const url = withDatabase(server, name);
    return openDatabase(url, {
      prefix: `${name}_`,
      reset: new DatabaseReset(url, TEMPLATE_DATABASE, `${name}_reset`),
      connect,
      admin,
      remove: async (withAdmin) =>
        withAdmin(async (client) => dropDatabases(client, `datname = '${name}' or datname ^@ '${name}_'`)),
    });
  });
}

/** Returns the URL of the branch on which all files with the same migrations have a database. */
async function findOrCreateSharedUrl(
  api: ServiceApi,
  { projectId, id, hash, shared }: MigratedParent,
  maker: DatabaseMaker,
): Promise<string> {
  const name = SHARED_BRANCH_PREFIX + hash;
  let found = shared;
  while (found === undefined) {
    const created = await api.createBranch(projectId, { name, parent: id, maker });
    if (created !== undefined) return created.url;
    // Another process has created the branch since the parent was found.
    found = (await api.listBranches(projectId)).find((each) => each.name === name);
  }
  const url = await api.findUrl(found);
  if (url === undefined) throw new Error(`The branch ${name} has no database. Delete it.`);
  return url;
}

/** Drops the databases of processes that were killed, and of threads that were terminated. */
async function dropAbandoned(admin: Client): Promise<void> {
  const { rows } = await admin.query<{ maker: string }>(
    `select distinct substring(datname from '^test_(${MAKER_PATTERN})_[0-9a-f]{8}') as maker from pg_database
      where datname ~ '^test_${MAKER_PATTERN}_[0-9a-f]{8}'`,
  );
  for (const { maker } of rows)
    if (!(await isMakerRunning(decodeMaker(maker))))
      // If this fails, for example because another process drops the same databases, the next call drops them.
      await dropDatabases(admin, `datname ^@ 'test_${maker}_'`).catch(() => undefined);
}

/** @param condition which databases, as a condition for rows of `pg_database` */
async function dropDatabases(admin: Client, condition: string): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    `select datname::text as name from pg_database where ${condition}`,
  );
  for (const { name } of rows) await dropDatabase(admin, name);
}
