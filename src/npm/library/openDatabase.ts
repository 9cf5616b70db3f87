/** The database of a test file, and how to reset, clone and drop it. If the file doesn't drop it, the end of the process does. */
import { limitConcurrency } from '../../base/limitConcurrency.ts';
import { withDatabase } from '../../api/addresses/databaseUrl.ts';
import { setDatabaseVariables } from '../../api/addresses/databaseVariables.ts';
import { copyDatabase, dropDatabase } from './copyDatabase.ts';
import { TEMPLATE_DATABASE } from './parents.ts';
import type { DatabaseReset, WithAdmin } from './reset.ts';
import { closeClient, queryOnOpenClient, type TestClient } from './testClient.ts';
import type { TestDatabase } from './types.d.ts';

/** The databases that are dropped when the process ends by itself. */
const openDatabases = new Set<() => Promise<void>>();

function dropOpenDatabases(): void {
  for (const drop of openDatabases) drop().catch(() => undefined);
}

const warned = new Set<string>();

function warnOnce(reason: string): void {
  if (warned.has(reason)) return;
  warned.add(reason);
  process.emitWarning(
    `db.reset() created the database again, which takes longer and ends its connections, because ${reason}`,
  );
}

interface Parts {
  /** The prefix of the names of clones. */
  readonly prefix: string;
  readonly reset: DatabaseReset;
  /** Connects to another database of the same server, because this one may be created again. */
  readonly connect: () => Promise<TestClient>;
  /** A connection as from `connect`, if there is one already. */
  readonly admin?: TestClient;
  readonly remove: (withAdmin: WithAdmin) => Promise<void>;
}

/** Sets `DATABASE_URL` until the database is dropped. */
export function openDatabase(url: string, { prefix, reset, connect, remove, ...parts }: Parts): TestDatabase {
  const leaveDatabase = setDatabaseVariables(url);
  let count = 0;
  let { admin } = parts;
  admin?.unref();
  let dropped: Promise<void> | undefined;
  // These steps run one at a time, because each must be alone with the template.
  const inTurn = limitConcurrency(1);
  const withAdmin: WithAdmin = async (work) => {
    const { client } = await queryOnOpenClient(admin, connect, (each) => each.query(''));
    admin = client;
    try {
      return await work(client);
    } finally {
      // The process may end while the connection is idle.
      if (dropped === undefined) client.unref();
    }
  };
  const dropDatabaseOfFile = async () => {
    leaveDatabase();
    try {
      await reset.close();
      await remove(withAdmin);
    } finally {
      if (admin !== undefined) await closeClient(admin).catch(() => undefined);
    }
  };
  const drop = () => {
    openDatabases.delete(drop);
    if (openDatabases.size === 0) process.off('beforeExit', dropOpenDatabases);
    return (dropped ??= inTurn(dropDatabaseOfFile));
  };
  // On the server of a dropped database, a reset would create it again.
  const requireOpen = () => {
    if (dropped !== undefined) throw new Error('This database was dropped. Open another one.');
  };
  // Runners refuse hooks that are added by hooks, so the end of the file can't be noticed.
  if (openDatabases.size === 0) process.on('beforeExit', dropOpenDatabases);
  openDatabases.add(drop);
  return {
    url,
    drop,
    [Symbol.asyncDispose]: drop,
    async reset() {
      requireOpen();
      const obstacle = await inTurn(async () => reset.run(withAdmin));
      if (obstacle?.isOfTest === false) warnOnce(obstacle.reason);
      return { createdAgain: obstacle?.reason };
    },
    async clone() {
      requireOpen();
      const name = `${prefix}clone_${(count += 1)}`;
      await inTurn(async () => withAdmin(async (client) => copyDatabase(client, TEMPLATE_DATABASE, name)));
      const dropClone = async () => {
        // Dropping the database of the file drops its clones, too.
        await (dropped ?? inTurn(async () => withAdmin(async (client) => dropDatabase(client, name))));
      };
      return { url: withDatabase(url, name), drop: dropClone, [Symbol.asyncDispose]: dropClone };
    },
  };
}
