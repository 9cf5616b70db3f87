/**
 * The same work with PGlite or with `hosted-postgres/test`, as a separate program: `peer.mjs WORK SIDE`. Its folder has the packages
 * that `peers.ts` installs. It prints a line of JSON, or sends messages to its parent.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { PROJECT = '', LIBRARY = '', SIZES = '' } = process.env;
const { tables, tests, statements, connections } = JSON.parse(SIZES);
const { Client } = createRequire(PROJECT)('pg');
const [schema, seed, truncation] = ['schema', 'seed', 'truncation'].map((name) =>
  readFileSync(`${name}.sql`, 'utf8'),
);
const MORE_DATABASES = 4;

const sides = {
  async pglite() {
    const { PGlite } = await import('@electric-sql/pglite');
    const db = await PGlite.create();
    await db.exec(schema + seed);
    return {
      query: (text, values) => db.query(text, values),
      reset: () => db.exec(truncation),
      close: () => db.close(),
    };
  },
  async ours() {
    const db = await createRequire(LIBRARY)(LIBRARY).database({ migrate: 'schema.sql', seed: 'seed.sql' });
    const client = new Client(db.url);
    await client.connect();
    return {
      query: (text, values) => client.query(text, values),
      reset: () => db.reset(),
      url: db.url,
      async close() {
        await client.end();
        await db.drop();
      },
    };
  },
};

async function testFile(open) {
  const db = await open();
  for (let test = 0; test < tests; test += 1) {
    for (const table of tables) {
      await db.query(`insert into ${table} (name) values ($1), ($2)`, ['a', 'b']);
      await db.query(`update ${table} set name = $1 where id = 1`, ['c']);
      const { rows } = await db.query(`select count(*)::int as n from ${table}`);
      assert.equal(rows[0].n, 22);
    }
    await db.reset();
  }
  await db.close();
  return { peak: process.resourceUsage().maxRSS };
}

async function loops(open) {
  const db = await open();
  const timed = async (statement, valuesOf) => {
    const startedAt = performance.now();
    for (let n = 0; n < statements; n += 1) await db.query(statement, valuesOf(n));
    return performance.now() - startedAt;
  };
  const write = await timed('insert into event (name) values ($1)', (n) => [`name ${n}`]);
  const read = await timed('select * from event where id = $1', (n) => [n + 1]);
  await db.close();
  return { write, read };
}

/** Sends how many databases are open: when it is one, and when it is several more. It ends when the parent disconnects. */
async function hold(open) {
  const opened = [await open()];
  const more = new Promise((resolve) => process.once('message', resolve));
  const disconnected = new Promise((resolve) => process.once('disconnect', resolve));
  process.send({ open: opened.length });
  await more;
  for (let n = 0; n < MORE_DATABASES; n += 1) opened.push(await open());
  process.send({ open: opened.length });
  await disconnected;
  for (const db of opened) await db.close();
  return {};
}

/** Sends the address of a database for several clients, which is open until the parent disconnects. */
async function serve(open, side) {
  const disconnected = new Promise((resolve) => process.once('disconnect', resolve));
  if (side === 'ours') {
    const db = await open();
    process.send({ url: db.url });
    await disconnected;
    await db.close();
    return {};
  }
  const { PGlite } = await import('@electric-sql/pglite');
  const { PGLiteSocketServer } = await import('@electric-sql/pglite-socket');
  const db = await PGlite.create();
  await db.exec(schema + seed);
  const server = new PGLiteSocketServer({ db, port: 0, host: '127.0.0.1', maxConnections: connections });
  const listening = new Promise((resolve) =>
    server.addEventListener('listening', ({ detail }) => resolve(detail)),
  );
  await server.start();
  process.send({ url: `postgresql://postgres@127.0.0.1:${(await listening).port}/postgres` });
  await disconnected;
  await server.stop();
  await db.close();
  return {};
}

/** What `prisma dev` starts, without a state. The program `prisma dev` itself downloads its newest version at each start. */
async function prismaStart() {
  const { startPrismaDevServer } = await import('@prisma/dev');
  const server = await startPrismaDevServer({ persistenceMode: 'stateless' });
  const client = new Client(server.database.connectionString);
  await client.connect();
  await client.query('select 1');
  console.log('ANSWERED');
  await client.end();
  await server.close();
  return {};
}

const [work = '', side = ''] = process.argv.slice(2);
const result = await { testFile, loops, hold, serve, prismaStart }[work](sides[side], side);
console.log(JSON.stringify(result));
process.exit(0);
