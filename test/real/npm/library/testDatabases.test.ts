/** `database()` of `hosted-postgres/test`: files that share a branch, each in a separate process. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { withDatabase } from '../../../../src/api/addresses/databaseUrl.ts';
import {
  allEnded,
  createProject,
  environment,
  OPTIONS,
  program,
  PROJECT,
  run,
} from '../../../helpers/testProject.ts';
import { connectTo, query } from '../../service/postgres/clients.ts';

const FILES = `{ migrate: 'migrations', seed: 'seed.sql' }`;
/** The names of test databases and their clones. */
const left = async (url: string) =>
  query(
    withDatabase(url, 'postgres'),
    "select datname::text from pg_database where datname ~ '^test_' order by 1",
  );

/** A process with a database and a clone of it. Each line of input is SQL, which it runs in the database. */
async function start(cwd: string) {
  const code = `const db = await database(${FILES});
    const clone = await db.clone();
    show([db.url, clone.url]);
    for await (const sql of require('node:readline').createInterface({ input: process.stdin })) show(await query(db.url, sql));`;
  const child = spawn(process.execPath, ['-e', await program(code)], {
    cwd,
    env: environment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const next = async () => {
    const line = await Promise.race([once(lines, 'line'), once(child, 'close').then(() => undefined)]);
    return JSON.parse(String(line ?? assert.fail('the process has ended')));
  };
  const urls: string[] = await next();
  const send = async (sql: string): Promise<unknown> => {
    child.stdin.write(`${sql}\n`);
    return next();
  };
  return { child, urls, send };
}

describe('Databases of tests', () => {
  after(allEnded);

  it('are on one branch for files at the same time, which migrations ran on once, with only their own changes', async () => {
    const { cwd, count, api } = await createProject();
    const code = `const db = await database(${OPTIONS});
      const before = await query(process.env.DATABASE_URL, 'select id from item order by 1');
      await query(db.url, 'insert into item values (3)');
      await db.drop();
      const late = await Promise.allSettled([db.reset(), db.clone()]);
      show([before, process.env.DATABASE_URL, db.url, ...late.map(({ reason }) => reason?.message)]);`;
    const all = [1, 2, 3].map(async () => run<[number[], string, string, ...string[]]>(cwd, code));
    const results = await Promise.all(all);
    const dropped = 'This database was dropped. Open another one.';
    assert.deepEqual(
      results.map(([, , , ...late]) => late),
      Array(3).fill([dropped, dropped]),
    );
    assert.deepEqual(
      results.map(([before, after]) => [before, after]),
      Array(3).fill([[1, 2], 'before']),
    );
    const urls = results.map(([, , url]) => url);
    assert.equal(new Set(urls).size, 3);
    assert.equal(new Set(urls.map((url) => withDatabase(url, 'same'))).size, 1);
    assert.equal(count(), 1);
    const names = (await api().branches(PROJECT)).map(({ name }) => name.split(' ')[0]);
    assert.deepEqual(new Set(names), new Set(['main', 'parent', 'shared']));

    // A later file has it too. The end of its process drops the database.
    const [url, rows] = await run<[string, number[]]>(
      cwd,
      `const db = await database(${OPTIONS}); show([db.url, await query(db.url, 'select id from item')]);`,
    );
    assert.deepEqual(rows, [1, 2]);
    assert.deepEqual(await left(url), []);
    assert.equal((await api().branches(PROJECT)).length, 3);
  });

  it('are reset, also after DDL, and cloned', async () => {
    const { cwd } = await createProject();
    writeFileSync(
      path.join(cwd, 'seed.sql'),
      'insert into item select generate_series(1, 2); create table large as select generate_series(1, 2000) as id;',
    );
    const code = `const [other, db] = [await database(${FILES}), await database(${FILES})];
      const count = async (url) => query(url, 'select (select count(*)::int from item), (select count(*)::int from large)');
      const shown = [];
      for (const change of ['delete from item', 'delete from item; delete from large', 'drop table item']) {
        await query(db.url, change);
        await query(other.url, 'insert into item select max(id) + 1 from item');
        const clone = await db.clone();
        await db.reset();
        shown.push(await count(db.url), await count(clone.url));
        await clone.drop();
      }
      shown.push(await count(other.url));
      await Promise.all([db.drop(), other.drop()]);
      show([shown, db.url]);`;
    const [shown, url] = await run<[number[][], string]>(cwd, code);
    assert.deepEqual(shown, [...Array(6).fill([2, 2000]), [5, 2000]]);
    assert.deepEqual(await left(url), []);
  });

  it('do not wait for the disk at a commit, unless migrations set it, and neither do clones and branches', async () => {
    const { cwd } = await createProject();
    const code = `const waits = async ({ url }) => (await query(url, 'show synchronous_commit'))[0];
      const shown = [];
      for (const open of [database, branch]) {
        const db = await open(${FILES});
        await query(db.url, 'create table more ()');
        await db.reset();
        shown.push(await waits(db), await waits(await db.clone()));
        await db.drop();
      }
      require('node:fs').appendFileSync('seed.sql', "; do $$ begin execute format('alter database %I set synchronous_commit = local', current_database()); end $$");
      const own = await database(${FILES});
      show([...shown, await waits(own)]);
      await own.drop();`;
    assert.deepEqual(await run(cwd, code), ['off', 'off', 'off', 'off', 'local']);
  });

  it('that a killed process has left are dropped by the next call, and no others', async () => {
    const { cwd } = await createProject();
    const [killed, running] = [await start(cwd), await start(cwd)];
    // A program that the test forgot.
    const forgotten = await connectTo(killed.urls[0] ?? '');
    forgotten.on('error', () => undefined);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'close');
    const url = await run<string>(cwd, `const db = await database(${FILES}); await db.drop(); show(db.url);`);
    const names = running.urls.map((each) => new URL(each).pathname.slice(1));
    assert.deepEqual(await left(url), names);
    running.child.kill('SIGKILL');
    await once(running.child, 'close');
  });

  it('stay while their process runs, also after another test has ended all connections', async () => {
    const { cwd } = await createProject();
    const running = await start(cwd);
    const others = await start(cwd);
    await others.send(
      'select pg_terminate_backend(pid, 10000) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user',
    );
    await run(cwd, `const db = await database(${FILES}); await db.drop(); show(1);`);
    assert.deepEqual(await running.send('select count(*)::int from item'), [2]);
    for (const { child } of [running, others]) {
      child.stdin.end();
      await once(child, 'close');
    }
    assert.deepEqual(await left(running.urls[0] ?? ''), []);
  });

  it('are reset, cloned and dropped after a test has ended all connections', async () => {
    const { cwd } = await createProject();
    const code = `const shown = [];
      for (const make of [branch, database]) {
        const db = await make(${FILES});
        await db.reset();
        await query(db.url, 'create table more (); select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user');
        await db.reset();
        const clone = await db.clone();
        shown.push(...await query(clone.url, 'select count(*)::int from item'));
        await query(db.url, 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user');
        await db.drop();
        shown.push(db.url);
      }
      show(shown);`;
    const [first, , second, url] = await run<[number, string, number, string]>(cwd, code);
    assert.deepEqual([first, second], [2, 2]);
    assert.deepEqual(await left(url), []);
  });

  it('are not made if a test has dropped their template, and the process ends', async () => {
    const { cwd } = await createProject();
    const url = await run<string>(cwd, `const db = await database(${FILES}); show(db.url);`);
    await query(withDatabase(url, 'postgres'), 'drop database hosted_postgres_template');
    await assert.rejects(
      run(cwd, `await database(${FILES});`),
      /template database "hosted_postgres_template" does not exist/,
    );
  });
});
