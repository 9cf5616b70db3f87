/** `hosted-postgres/test`: a database branch for each test file, and a clone of it for each test. See TESTS.md. */
import Client from 'pg/lib/client.js';
import { isRunning, ownIdentity, type ProcessIdentity } from '../../base/processIdentity.ts';
import type { Api, Branch } from '../api.ts';
import { contentHash, requireObjects, runStep } from './migrations.ts';
import { findService } from './service.ts';
import type { BranchOptions, TestBranch } from './types.d.ts';

/** Each branch has it besides its own database, without connections, so that it can always be cloned. */
const TEMPLATE = 'hosted_postgres_template';
const PARENT = 'parent ';
const BUILDING = 'building ';
/** Parents of other migrations that are kept, for other branches of Git. */
const KEPT_PARENTS = 4;
/** Milliseconds. */
const LIFETIME = 6 * 3600_000;
const POLL = 50;

/** See `types.d.ts`. */
export async function branch(options: BranchOptions = {}): Promise<TestBranch> {
  const { cwd = process.cwd() } = options;
  const [api, hash] = await Promise.all([findService(cwd), contentHash(cwd, options)]);
  const me = ownIdentity();
  const { projectId, source } = await findSource(api, options.from);
  const parent = await findParent(api, { projectId, source, hash, me }, async (url) => {
    const steps = [options.migrate, options.seed].filter((step) => step !== undefined);
    for (const step of steps) await runStep(cwd, step, url);
    if (steps.length > 0 && options.from === undefined) await requireObjects(url);
    await administrate(url, async (client) => {
      const database = Client.prototype.escapeIdentifier(databaseOf(url));
      await client.query(`create database ${TEMPLATE} template ${database}`);
    });
  });
  const name = `test ${me.pid} ${crypto.randomUUID()}`;
  const created = await api.createBranch(projectId, {
    name,
    parent: parent.id,
    maker: me,
    lifetime: LIFETIME,
  });
  if (created === undefined) throw new Error(`There is already a branch ${name}`);
  return openBranch(api, created);
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
  readonly me: ProcessIdentity;
}

/**
 * Returns the branch with the migrations. Names are unique, so only one process can create the branch `building …`, and
 * renames it when it is complete. The others wait, and delete it if that process has ended.
 */
async function findParent(
  api: Api,
  { projectId, source, hash, me }: ParentQuery,
  build: (url: string) => Promise<void>,
): Promise<Branch> {
  for (;;) {
    const branches = await api.branches(projectId);
    await Promise.all(branches.map(async (each) => deleteAbandoned(api, each)));
    const found = branches.find(({ name }) => name === PARENT + hash);
    if (found !== undefined) return found;
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
    const old = branches.filter(({ name }) => name.startsWith(PARENT));
    // One that has branches of running tests stays.
    for (const each of old.slice(KEPT_PARENTS)) await api.delete(each).catch(() => undefined);
    return created;
  }
}

/** Deletes a branch whose process was killed. Parents are for all processes. */
async function deleteAbandoned(api: Api, each: Branch): Promise<void> {
  const { name, maker } = each;
  if (maker === undefined || name.startsWith(PARENT) || (await isRunning(JSON.parse(maker)))) return;
  await api.delete(each).catch(() => undefined);
}

/** Its types lack these. */
type AdminClient = Client & { ref(): void; unref(): void };

function openBranch(api: Api, created: Branch & { readonly url: string }): TestBranch {
  const { url } = created;
  const previous = process.env['DATABASE_URL'];
  process.env['DATABASE_URL'] = url;
  let count = 0;
  let admin: Promise<AdminClient> | undefined;
  let pending = 0;
  const run = async (sql: string) => {
    const client = await (admin ??= connect(url) as Promise<AdminClient>);
    pending += 1;
    client.ref();
    try {
      await client.query(sql);
    } finally {
      pending -= 1;
      // The process may end while the connection is idle.
      if (pending === 0) client.unref();
    }
  };
  let dropped: Promise<void> | undefined;
  const dropBranch = async () => {
    if (process.env['DATABASE_URL'] === url) {
      if (previous === undefined) delete process.env['DATABASE_URL'];
      else process.env['DATABASE_URL'] = previous;
    }
    const close = async (client: AdminClient) => {
      client.ref();
      await client.end();
    };
    await admin?.then(close).catch(() => undefined);
    await api.delete(created);
  };
  const drop = () => (dropped ??= dropBranch());
  // Runners refuse hooks that are added by hooks, so the end of the file can't be noticed.
  process.once('beforeExit', () => void drop().catch(() => undefined));
  return {
    id: created.id,
    url,
    drop,
    [Symbol.asyncDispose]: drop,
    async clone() {
      const name = `clone_${(count += 1)}`;
      await run(`create database ${name} template ${TEMPLATE}`);
      const address = new URL(url);
      address.pathname = name;
      const dropClone = () => run(`drop database if exists ${name} with (force)`);
      return { url: address.href, drop: dropClone, [Symbol.asyncDispose]: dropClone };
    },
  };
}

const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // A connection that is lost fails the next statement.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Runs statements outside the user's database, which can be a template only while nobody is connected to it. */
async function administrate(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const address = new URL(url);
  address.pathname = 'postgres';
  const client = await connect(address.href);
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
