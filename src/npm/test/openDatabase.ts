/** The database of a test file, which it resets, clones and drops. Without a drop, the end of the process drops it. */
import type Client from 'pg/lib/client.js';
import { withDatabase } from '../../api/addresses/databaseUrl.ts';
import { useDatabase } from '../databaseVariables.ts';
import { copyDatabase } from './copyDatabase.ts';
import { TEMPLATE } from './parents.ts';
import type { Reset } from './reset.ts';
import { openClient, type TestClient } from './testClient.ts';
import type { TestDatabase } from './types.d.ts';

/** Those that are dropped when the process ends by itself. */
const open = new Set<() => Promise<void>>();

function dropAll(): void {
  for (const drop of open) drop().catch(() => undefined);
}

interface Parts {
  /** Of the names of clones. */
  readonly prefix: string;
  readonly reset: Reset;
  /** A connection to another database of the same server. By default, it is made when it is needed. */
  readonly admin?: TestClient;
  /** @param admin to be closed, if there is one */
  readonly remove: (admin: TestClient | undefined) => Promise<void>;
}

/** Sets `DATABASE_URL`. */
export function openDatabase(url: string, { prefix, reset, remove, ...parts }: Parts): TestDatabase {
  const leaveDatabase = useDatabase(url);
  let count = 0;
  let admin = parts.admin === undefined ? undefined : Promise.resolve(parts.admin);
  parts.admin?.unref();
  let dropped: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, because all of it needs the template. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.catch(() => undefined).then(work);
    last = done;
    return done;
  };
  const run = async (work: (client: Client) => Promise<unknown>) => {
    // Not to the database itself, which may be created again.
    const client = await (admin ??= openClient(withDatabase(url, 'postgres')));
    const done = inTurn(async () => work(client));
    client.ref();
    try {
      await done;
    } finally {
      // The process may end while the connection is idle.
      if (last === done && dropped === undefined) client.unref();
    }
  };
  const dropDatabase = async () => {
    leaveDatabase();
    await reset.close();
    const client = await admin?.catch(() => undefined);
    client?.ref();
    await remove(client);
  };
  const drop = () => {
    open.delete(drop);
    if (open.size === 0) process.off('beforeExit', dropAll);
    return (dropped ??= dropDatabase());
  };
  // Runners refuse hooks that are added by hooks, so the end of the file can't be noticed.
  if (open.size === 0) process.on('beforeExit', dropAll);
  open.add(drop);
  return {
    url,
    drop,
    [Symbol.asyncDispose]: drop,
    reset: async () => run(async (client) => reset.run(client)),
    async clone() {
      const name = `${prefix}clone_${(count += 1)}`;
      await run(async (client) => copyDatabase(client, TEMPLATE, name));
      const dropClone = async () => {
        const sql = `drop database if exists ${name} with (force)`;
        await run(async (client) => client.query(sql)).catch(async (error: unknown) => {
          // The database of the file, and this one with it, is dropped already, or in this moment.
          if (dropped === undefined) throw error;
          await dropped;
        });
      };
      return { url: withDatabase(url, name), drop: dropClone, [Symbol.asyncDispose]: dropClone };
    },
  };
}
