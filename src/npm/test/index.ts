/** `hosted-postgres/test`: a database branch for each test file, and a clone of it for each test. See TESTS.md. */
import type Client from 'pg/lib/client.js';
import { requireDatabaseUrl, withDatabase } from '../../api/addresses/databaseUrl.ts';
import { isRejected } from '../../api/transport/errors.ts';
import { createPgClient } from '../../base/pgClient.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Api, Branch } from '../api.ts';
import { useDatabase } from '../databaseVariables.ts';
import { copyDatabase } from './copyDatabase.ts';
import { isMakerRunning, ownMaker, type Maker } from './maker.ts';
import { Reset, type TestClient } from './reset.ts';
import { contentHash, requireObjects, runStep, withClient } from './migrations.ts';
import { findService } from './service.ts';
import type { BranchOptions, TestBranch } from './types.d.ts';

/** A copy of the branch's database after the migrations, for `clone` and `reset`. Without connections, it can always be copied. */
const TEMPLATE = 'hosted_postgres_template';
const PARENT = 'parent ';
const BUILDING = 'building ';
/** Parents of other migrations that are kept, for other test files and branches of Git. Each takes about 35 MB. */
const KEPT_PARENTS = 20;
/** Milliseconds. */
const LIFETIME = 6 * 3600_000;
const POLL = 50;

/** See `types.d.ts`. */
export async function branch(options: BranchOptions = {}): Promise<TestBranch> {
  const { cwd = process.cwd() } = options;
  const [api, hash] = await Promise.all([findService(cwd), contentHash(cwd, options)]);
  const me = await ownMaker();
  const { projectId, source } = await findSource(api, options.from);
  const build = async (url: string) => {
    const steps = [options.migrate, options.seed].filter((step) => step !== undefined);
    for (const step of steps) await runStep(cwd, step, url);
    if (steps.length > 0 && options.from === undefined) await requireObjects(url);
    await createTemplate(url);
  };
  const name = `test ${me.pid} ${crypto.randomUUID()}`;
  for (;;) {
    const { id: parent } = await findParent(api, { projectId, source, hash, me }, build);
    try {
      const created = await api.createBranch(projectId, { name, parent, maker: me, lifetime: LIFETIME });
      if (created === undefined) throw new Error(`There is already a branch ${name}`);
      return openBranch(api, created);
    } catch (error) {
      // Another process has deleted the parent since.
      if (!isRejected(fieldsOf(error)['cause'], 404)) throw error;
    }
  }
}

/** The branch to start from. Without a name, the default branch of a project of our own, which stays empty. */
async function findSource(api: Api, from: string | undefined) {
  if (from === undefined) {
    const projectId = await api.ownProject();
    return { projectId, source: undefined };
  }
  for (const { id: projectId } of await api.projects()) {
    const found = (await api.branches(projectId)).find(({ id, name }) => id === from || name === from);
    if (found !== undefined) return { projectId, source: found.id };
  }
  throw new Error(`The service has no branch ${from}`);
}

interface ParentQuery {
  readonly projectId: string;
  readonly source: string | undefined;
  readonly hash: string;
  readonly me: Maker;
}

/**
 * Returns the branch with the migrations. Names are unique, so only one process or thread can create the branch `building …`,
 * and renames it when it is complete. The others wait, and delete it if that one has ended.
 */
async function findParent(
  api: Api,
  { projectId, source, hash, me }: ParentQuery,
  build: (url: string) => Promise<void>,
): Promise<Branch> {
  for (;;) {
    const branches = await api.branches(projectId);
    await Promise.all(branches.map(async (each) => deleteAbandoned(api, each)));
    const parents = branches.filter(({ name }) => name.startsWith(PARENT));
    const found = parents.find(({ name }) => name === PARENT + hash);
    if (found !== undefined) {
      // Makes it the first.
      if (found !== parents[0]) await api.rename(found, found.name).catch(() => undefined);
      return found;
    }
    const building = branches.some(({ name }) => name === BUILDING + hash);
    const created = building
      ? undefined
      : await api.createBranch(projectId, { name: BUILDING + hash, parent: source, maker: me });
    if (created === undefined) {
      await new Promise((resolve) => setTimeout(resolve, POLL));
      continue;
    }
    try {
      await build(created.url);
      // Its copies begin faster without a server that runs.
      await api.deleteComputes(created);
      await api.rename(created, PARENT + hash);
    } catch (error) {
      await api.delete(created).catch(() => undefined);
      throw error;
    }
    // One that has branches of running tests stays.
    for (const each of parents.slice(KEPT_PARENTS)) await api.delete(each).catch(() => undefined);
    return created;
  }
}

/** Deletes a branch whose process or thread was ended. Parents are for all of them. */
async function deleteAbandoned(api: Api, each: Branch): Promise<void> {
  const { name, maker } = each;
  if (maker === undefined || name.startsWith(PARENT) || (await isMakerRunning(JSON.parse(maker)))) return;
  await api.delete(each).catch(() => undefined);
}

/** Those that are deleted when the process ends by itself. */
const open = new Set<() => Promise<void>>();

function dropAll(): void {
  for (const drop of open) drop().catch(() => undefined);
}

function openBranch(api: Api, created: Branch & { readonly url: string }): TestBranch {
  const { url } = created;
  const leaveDatabase = useDatabase(url);
  let count = 0;
  let admin: Promise<TestClient> | undefined;
  let dropped: Promise<void> | undefined;
  const reset = new Reset(url, TEMPLATE);
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, because all of it needs the template. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.catch(() => undefined).then(work);
    last = done;
    return done;
  };
  const run = async (work: (client: Client) => Promise<unknown>) => {
    // Not to the branch's own database, which may be created again.
    const client = await (admin ??= connect(withDatabase(url, 'postgres')));
    const done = inTurn(async () => work(client));
    client.ref();
    try {
      await done;
    } finally {
      // The process may end while the connection is idle.
      if (last === done && dropped === undefined) client.unref();
    }
  };
  const dropBranch = async () => {
    leaveDatabase();
    const close = async (client: TestClient) => {
      client.ref();
      await client.end();
    };
    await admin?.then(close).catch(() => undefined);
    await reset.close();
    await api.delete(created);
  };
  const drop = () => {
    open.delete(drop);
    if (open.size === 0) process.off('beforeExit', dropAll);
    return (dropped ??= dropBranch());
  };
  // Runners refuse hooks that are added by hooks, so the end of the file can't be noticed.
  if (open.size === 0) process.on('beforeExit', dropAll);
  open.add(drop);
  return {
    id: created.id,
    url,
    drop,
    [Symbol.asyncDispose]: drop,
    reset: async () => void (await inTurn(async () => reset.run())),
    async clone() {
      const name = `clone_${(count += 1)}`;
      await run(async (client) => copyDatabase(client, TEMPLATE, name));
      const dropClone = async () => {
        const sql = `drop database if exists ${name} with (force)`;
        await run(async (client) => client.query(sql)).catch(async (error: unknown) => {
          // The branch, and this database with it, is deleted already, or in this moment.
          if (dropped === undefined) throw error;
          await dropped;
        });
      };
      return { url: withDatabase(url, name), drop: dropClone, [Symbol.asyncDispose]: dropClone };
    },
  };
}

async function connect(url: string): Promise<TestClient> {
  const client = createPgClient({ connectionString: url });
  await client.connect();
  return client as TestClient;
}

/** @throws {Error} with the connections that prevent it: Postgres copies no database while others are connected to it */
async function createTemplate(url: string): Promise<void> {
  const { database } = requireDatabaseUrl(url);
  await withClient(withDatabase(url, 'postgres'), async (client) => {
    try {
      await copyDatabase(client, database, TEMPLATE);
    } catch (error) {
      if (fieldsOf(error).code !== OBJECT_IN_USE) throw error;
      const { rows } = await client.query(OTHERS, [database]);
      const others = rows.map(({ text }) => `\n${text}`).join('');
      const hint = 'Close connections and pools before `migrate` and `seed` return.';
      throw new Error(`The database is still in use. ${hint} Open:${others}`, { cause: error });
    }
  });
}

const OBJECT_IN_USE = '55006';
const OTHERS = `select concat_ws(', ', nullif(application_name, ''), state, left(query, 200)) as text
  from pg_stat_activity where datname = $1`;
