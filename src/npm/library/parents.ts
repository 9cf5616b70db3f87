/**
 * Finds or makes the parents: branches with the migrations of test files, from which the branches and databases of these files are made.
 * Migrations run once for each content of their files.
 */
import { requireDatabaseUrl, withDatabase } from '../../api/addresses/databaseUrl.ts';
import { isRejected } from '../../api/transport/errors.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { ServiceApi, Branch } from '../api.ts';
import { saveBeginning } from './beginning.ts';
import { copyDatabase, OBJECT_IN_USE } from './copyDatabase.ts';
import { findBranch } from '../findBranch.ts';
import {
  isMakerRunning,
  describeOwnMaker,
  makerOfDatabase,
  parseMaker,
  type DatabaseMaker,
} from './maker.ts';
import { hashSteps, requireNonEmptyDatabase, runStep } from './migrations.ts';
import { withClientOf } from '../../migrations/runSqlFiles.ts';
import { findService } from './service.ts';
import type { BranchOptions } from './types.d.ts';

/**
 * A copy of the branch's database after the migrations, for `clone` and `reset`. No program connects to it, so it can always be
 * copied.
 */
export const TEMPLATE_DATABASE = 'hosted_postgres_template';
const PARENT_PREFIX = 'parent ';
const BUILDING_PREFIX = 'building ';
/** The names of shared branches begin with this. Such a branch is a child of a parent, and has the databases of several files. */
export const SHARED_BRANCH_PREFIX = 'shared ';
/** The number of parents of other migrations that are kept, for other test files and branches of Git. Each takes about 35 MB. */
const KEPT_PARENTS = 20;
const POLL = 50;

/** A branch with applied migrations, from which the branches of test files are made. */
export interface MigratedParent {
  readonly projectId: string;
  readonly id: string;
  /** The hash of the migrations. */
  readonly hash: string;
  /** The parent's child on which files share a server, if there was one when the parent was found. */
  readonly shared?: Branch | undefined;
}

/** Does work with the branch that has the migrations, which is created unless it exists. */
export async function withMigratedParent<T>(
  options: BranchOptions,
  work: (api: ServiceApi, parent: MigratedParent, me: DatabaseMaker) => Promise<T>,
): Promise<T> {
  const { cwd = process.cwd() } = options;
  const [api, hash] = await Promise.all([findService(cwd), hashSteps(cwd, options)]);
  const me = await describeOwnMaker();
  const { projectId, source } = await findSource(api, options.from);
  const build = async (url: string) => {
    await turnOffSynchronousCommit(url);
    const steps = [options.migrate, options.seed].filter((step) => step !== undefined);
    for (const step of steps) await runStep(cwd, step, url);
    if (steps.length > 0 && options.from === undefined) await requireNonEmptyDatabase(url);
    await createTemplate(url);
  };
  for (;;) {
    const parent = await findOrBuildParent(api, { projectId, source, hash, me }, build);
    try {
      return await work(api, parent, me);
    } catch (error) {
      // After a 404, another process has deleted the parent in the meantime.
      if (!isRejected(fieldsOf(error)['cause'], 404)) throw error;
    }
  }
}

/** Finds the branch to start from. Without a name, that is the default branch of the library's project, which stays empty. */
async function findSource(api: ServiceApi, from: string | undefined) {
  if (from === undefined) {
    const projectId = await api.findOrCreateOwnProject();
    return { projectId, source: undefined };
  }
  const { project_id: projectId, id: source } = await findBranch(api, { named: from, option: '`from`' });
  return { projectId, source };
}

interface ParentQuery {
  readonly projectId: string;
  readonly source: string | undefined;
  readonly hash: string;
  readonly me: DatabaseMaker;
}

/**
 * Returns the branch with the migrations. Names are unique, so only one process or thread can create the branch `building …`,
 * and renames it when it is complete. The others wait, and delete the branch if its maker has ended.
 */
async function findOrBuildParent(
  api: ServiceApi,
  { projectId, source, hash, me }: ParentQuery,
  runSteps: (url: string) => Promise<void>,
): Promise<MigratedParent> {
  for (;;) {
    const branches = await api.listBranches(projectId);
    await Promise.all(branches.map(async (each) => deleteAbandoned(api, each)));
    const parents = branches.filter(({ name }) => name.startsWith(PARENT_PREFIX));
    const found = parents.find(({ name }) => name === PARENT_PREFIX + hash);
    if (found !== undefined) {
      if (found !== parents[0]) await moveToFront(api, found);
      const shared = branches.find(({ name }) => name === SHARED_BRANCH_PREFIX + hash);
      return { projectId, id: found.id, hash, shared };
    }
    const building = branches.some(({ name }) => name === BUILDING_PREFIX + hash);
    const created = building
      ? undefined
      : await api.createBranch(projectId, { name: BUILDING_PREFIX + hash, parent: source, maker: me });
    if (created === undefined) {
      await new Promise((resolve) => setTimeout(resolve, POLL));
      continue;
    }
    try {
      await runSteps(created.url);
      // Copies of a parent begin faster if none of its servers runs.
      await api.deleteComputes(created);
      await api.rename(created, PARENT_PREFIX + hash);
    } catch (error) {
      await api.delete(created).catch(() => undefined);
      throw error;
    }
    // An error doesn't matter: the next process that makes a parent deletes the old ones.
    if (parents.length > KEPT_PARENTS) await deleteOldParents(api, created).catch(() => undefined);
    return { projectId, id: created.id, hash };
  }
}

/**
 * Deletes the parents that weren't used for the longest time, and their shared branches. They are listed only now, because others may
 * have used some of them while the migrations of this one ran.
 */
async function deleteOldParents(api: ServiceApi, created: Branch): Promise<void> {
  const branches = await api.listBranches(created.project_id);
  const others = branches.filter(({ id, name }) => name.startsWith(PARENT_PREFIX) && id !== created.id);
  for (const old of others.slice(KEPT_PARENTS)) {
    const name = SHARED_BRANCH_PREFIX + old.name.slice(PARENT_PREFIX.length);
    const shared = branches.find((each) => each.name === name);
    if (shared !== undefined) {
      if (await hasUsedDatabase(api, shared)) continue;
      await api.delete(shared).catch(() => undefined);
    }
    // A parent that has branches of running tests stays.
    await api.delete(old).catch(() => undefined);
  }
}

/** Whether a database of the shared branch is of a test file that still runs. */
async function hasUsedDatabase(api: ServiceApi, shared: Branch): Promise<boolean> {
  for (const { name } of await api.listDatabases(shared)) {
    const maker = makerOfDatabase(name);
    if (maker !== undefined && (await isMakerRunning(maker))) return true;
  }
  return false;
}

/**
 * Makes a branch the first in the list, which is ordered by the last changes of records. An error doesn't matter: the branch is only
 * deleted earlier then.
 */
async function moveToFront(api: ServiceApi, branch: Branch): Promise<void> {
  await api.rename(branch, branch.name).catch(() => undefined);
}

/** Deletes a branch whose maker has ended. Parents and shared branches stay, because they are for all processes. */
async function deleteAbandoned(api: ServiceApi, each: Branch): Promise<void> {
  const { name } = each;
  const maker = each.maker === undefined ? undefined : parseMaker(each.maker);
  if (
    maker === undefined ||
    name.startsWith(PARENT_PREFIX) ||
    name.startsWith(SHARED_BRANCH_PREFIX) ||
    (await isMakerRunning(maker))
  )
    return;
  await api.delete(each).catch(() => undefined);
}

/**
 * Turns off `synchronous_commit`, because tests write much, and lose nothing of value if the machine fails. Migrations may turn it on
 * again. The setting is also that of all copies: branches, databases and clones.
 */
async function turnOffSynchronousCommit(url: string): Promise<void> {
  await withClientOf(url, async (client) => {
    const database = client.escapeIdentifier(requireDatabaseUrl(url).database);
    await client.query(`alter database ${database} set synchronous_commit = off`);
  });
}

/** Creates the template. @throws {Error} with the other connections, because Postgres copies no database that has any */
async function createTemplate(url: string): Promise<void> {
  const { database } = requireDatabaseUrl(url);
  await withClientOf(withDatabase(url, 'postgres'), async (client) => {
    try {
      await copyDatabase(client, database, TEMPLATE_DATABASE);
      await saveBeginning(client, url, TEMPLATE_DATABASE);
    } catch (error) {
      if (fieldsOf(error).code !== OBJECT_IN_USE) throw error;
      const { rows } = await client.query(OTHER_CONNECTIONS, [database]);
      const others = rows.map(({ text }) => `\n${text}`).join('');
      const hint = 'Close connections and pools before `migrate` and `seed` return.';
      throw new Error(`The database is still in use. ${hint} Open:${others}`, { cause: error });
    }
  });
}

const OTHER_CONNECTIONS = `select concat_ws(', ', nullif(application_name, ''), state, left(query, 200)) as text
  from pg_stat_activity where datname = $1`;
