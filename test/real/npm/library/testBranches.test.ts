/** `hosted-postgres/test`, with a process for each file of tests, as in most runners. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive } from '../../../../src/base/programs/isAlive.ts';
import { builtTestLibrary } from '../../../helpers/builtTestLibrary.ts';
import { storageOf } from '../../../helpers/branchCalls.ts';
import {
  allEnded,
  createProject,
  environment,
  OPTIONS,
  program,
  PROJECT,
  run,
  serviceOf,
  stopService,
} from '../../../helpers/testProject.ts';
import { TEST_LIMIT } from '../../../limits.ts';
import { until } from '../../../workbench/until.ts';
import { query } from '../../service/postgres/clients.ts';

const byName = (a: string, b: string): number => a.localeCompare(b);

describe('Branches of tests', () => {
  after(allEnded);

  it('have migrations that ran once for files at the same time, and only their own changes', async () => {
    const { cwd, dataDir, count, api } = await createProject();
    const code = `const db = await branch(${OPTIONS});
      const before = await query(process.env.DATABASE_URL, 'select id from item order by 1');
      await query(db.url, 'insert into item values (3)');
      await db.drop();
      show([before, process.env.DATABASE_URL]);`;
    const results = await Promise.all([1, 2, 3].map(async () => run(cwd, code)));
    assert.deepEqual(results, Array(3).fill([[1, 2], 'before']));
    assert.equal(count(), 1);
    const names = (await api().branches(PROJECT)).map(({ name }) => name.split(' ')[0] ?? '');
    assert.deepEqual(names.toSorted(byName), ['main', 'parent']);
    await stopService(dataDir);

    // A later run uses them, also for another test file. The end of the process deletes its branch.
    assert.deepEqual(
      await run(
        cwd,
        `const db = await branch(${OPTIONS}); show(await query(db.url, 'select id from item'));`,
      ),
      [1, 2],
    );
    assert.equal(count(), 1);
    assert.equal((await api().branches(PROJECT)).length, 2);

    writeFileSync(path.join(cwd, 'migrations', '2.sql'), '-- changed');
    await run(cwd, `await branch(${OPTIONS}); show(1);`);
    assert.equal(count(), 2);
  });

  it('have clones with the data that the branch began with, while the program is connected', async () => {
    const { cwd } = await createProject();
    const code = `const warnings = [];
      process.on('warning', ({ message }) => warnings.push(message));
      const options = { migrate: 'migrations', seed: 'seed.sql' };
      const [other, db] = [await branch(options), await branch(options)];
      const listeners = process.listenerCount('beforeExit');
      await other.drop();
      const connected = new Client(db.url);
      await connected.connect();
      await connected.query('delete from item');
      const [a, b] = await Promise.all([db.clone(), db.clone()]);
      await query(a.url, 'insert into item values (3)');
      const counts = [];
      for (const { url } of [a, b]) counts.push(...await query(url, 'select count(*)::int from item'));
      await a.drop();
      const left = await query(db.url, "select datname::text from pg_database where datname ~ 'clone_'");
      await connected.end();
      show([counts, left, listeners, warnings]);`;
    assert.deepEqual(await run(cwd, code), [[3, 2], ['hosted_postgres_clone_2'], 1, []]);
  });

  it('are reset to the data that they began with, under the connections of the test, and created again after DDL', async () => {
    const { cwd } = await createProject();
    const code = `const db = await branch({ migrate: 'migrations', seed: 'seed.sql' });
      const shown = [];
      const connected = new Client(db.url);
      connected.on('error', () => {});
      await connected.connect();
      const state = async (at) => (await at.query({ text: 'select id from item order by 1', rowMode: 'array' })).rows.flat();
      await connected.query('delete from item; insert into item values (7)');
      const [clone] = await Promise.all([db.clone(), db.reset()]);
      shown.push(await state(connected), await query(clone.url, 'select count(*)::int from item'));
      await connected.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'reset'");
      await connected.query('insert into item values (8)');
      await db.reset();
      shown.push(await state(connected));
      await connected.query('begin; insert into item values (9)');
      shown.push(await db.reset().catch(({ message }) => message.split('\\n')[0]));
      await connected.query('rollback; alter table item add column more int');
      await db.reset();
      shown.push(await query(db.url, 'select * from item order by 1'));
      await db.reset();
      await connected.end().catch(() => {});
      show(shown);`;
    assert.deepEqual(await run(cwd, code), [
      [1, 2],
      [2],
      [1, 2],
      'A transaction is open. End it and await all statements before reset. Open:',
      [1, 2],
    ]);
  });

  it('say why a reset creates them again, and warn once unless a test has run DDL', async () => {
    const { cwd } = await createProject();
    writeFileSync(
      path.join(cwd, 'seed.sql'),
      'insert into item values (1); alter table item add constraint more check (id > 1) not valid;',
    );
    writeFileSync(
      path.join(cwd, 'secret.sql'),
      `create table secret (n int); create role other; grant other to current_user; grant create on schema public to other;
        alter table secret owner to other; revoke other from current_user;`,
    );
    const code = `const shown = [];
      process.on('warning', ({ message }) => shown.push(message));
      for (const seed of ['seed.sql', 'secret.sql']) {
        const db = await branch({ migrate: 'migrations', seed });
        for (const change of ['select 1', 'delete from item', 'delete from item', 'create table more ()']) {
          await query(db.url, change);
          shown.push((await db.reset()).createdAgain ?? 'not created again');
        }
        await db.drop();
      }
      show(shown);`;
    const warning =
      'db.reset() created the database again, which takes longer and ends its connections, because ';
    const violation = 'new row for relation "item" violates check constraint "more"';
    const secret = "what it began with can't be read: permission denied for table secret";
    const shown = await run<string[]>(cwd, code);
    assert.match(
      String(shown.splice(4, 1)),
      /^its objects, settings or rights have changed \(pg_attribute, .*pg_class/,
    );
    assert.deepEqual(shown, [
      'not created again',
      violation,
      warning + violation,
      violation,
      secret,
      warning + secret,
      secret,
      secret,
      secret,
    ]);
  });

  it('may be dropped before their clones, in any order', async () => {
    const { cwd } = await createProject();
    const code = `const db = await branch({ migrate: 'migrations', seed: 'seed.sql' });
      const clones = [await db.clone(), await db.clone()];
      await Promise.all([clones[0].drop(), db.drop(), clones[1].drop()]);
      await clones[1].drop();
      await db.drop();
      show('dropped');`;
    assert.equal(await run(cwd, code), 'dropped');
  });

  it('have settings and rights of the database, also in clones and after a reset', async () => {
    const { cwd } = await createProject();
    writeFileSync(
      path.join(cwd, 'migrations', '2.sql'),
      `create role reader;
      alter database app set search_path = app, "Odd ""name""", public;
      alter role reader in database app set timezone = 'Europe/Berlin';
      revoke all on database app from public;
      grant connect on database app to reader with grant option;
      grant temporary on database app to public;`,
    );
    const code = `const db = await branch({ migrate: 'migrations', seed: 'seed.sql' });
      const state = async (url) => query(url, \`select array_to_string(datacl, ' ') from pg_database where datname = current_database()
        union all select concat(setrole, setconfig) from pg_db_role_setting join pg_database d on d.oid = setdatabase
          where datname = current_database()
        union all select current_setting('search_path') order by 1\`);
      const clone = await db.clone();
      const shown = [await state(db.url), await state(clone.url)];
      await query(db.url, 'create table more ()');
      await db.reset();
      shown.push(await state(db.url));
      await query(db.url, "alter database app set timezone = 'UTC'; grant create on database app to reader");
      await db.reset();
      shown.push(await state(db.url));
      show(shown);`;
    const [first, ...others] = await run<string[][]>(cwd, code);
    assert.match(first?.join('\n') ?? '', /Europe\/Berlin.*app, "Odd ""name""", public\n.*reader=c\*/s);
    assert.deepEqual(others, [first, first, first]);
  });

  it('leave nothing after the process and the service were killed and the next run began', async () => {
    const { cwd, dataDir, api } = await createProject();
    const code = `const db = await branch({ migrate: 'migrations', seed: 'seed.sql' });
      show(db.url);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['-e', await program(code)], {
      cwd,
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const url = String(JSON.parse(String(line)));
    assert.deepEqual(await query(url, 'select id from item order by 1'), [1, 2]);

    const { pid } = serviceOf(dataDir);
    const [killed] = (await api().branches(PROJECT)).filter(({ name }) => name.startsWith('test '));
    assert.ok(killed);
    const pidFile = path.join(storageOf({ dataDir }), 'branches', killed.id, 'data', 'postmaster.pid');
    const server = Number.parseInt(readFileSync(pidFile, 'utf8'));
    assert.ok(isAlive(server));
    child.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await once(child, 'close');
    await until('the service was killed', async () => !isAlive(pid), TEST_LIMIT);
    await run(
      cwd,
      `const db = await branch({ migrate: 'migrations', seed: 'seed.sql' }); await db.drop(); show(1);`,
    );
    const left = await api().branches(PROJECT);
    assert.deepEqual(left.map(({ name }) => name.split(' ')[0] ?? '').toSorted(byName), ['main', 'parent']);
    await stopService(dataDir);
    await until('the end of its server', async () => !isAlive(server));
    await assert.rejects(query(url, 'select 1'));
    const ids = left.map(({ id }) => id);
    const files = readdirSync(storageOf({ dataDir }), { encoding: 'utf8', recursive: true });
    assert.deepEqual(
      files.filter((file) => file.includes(killed.id)),
      [],
    );
    assert.ok(files.some((file) => ids.some((id) => file.includes(id))));
  });

  it('are made in a context with its own classes, as each test file of Jest has', async () => {
    const { cwd, dataDir } = await createProject();
    const file = JSON.stringify(await builtTestLibrary());
    // Its files exist already, so Node throws errors of the other context.
    const code = `const vm = require('node:vm');
      const context = vm.createContext();
      const inside = vm.runInContext('globalThis', context);
      for (const name of Object.getOwnPropertyNames(globalThis)) inside[name] ??= globalThis[name];
      inside.Uint8Array = Uint8Array;
      const library = { exports: {} };
      const names = ['require', 'module', 'exports', '__dirname'];
      vm.compileFunction(fs.readFileSync(${file}, 'utf8'), names, { parsingContext: context })(
        require, library, library.exports, require('node:path').dirname(${file}));
      const ids = [];
      for (const from of [branch, library.exports.branch]) {
        const db = await from({ migrate: 'migrations', seed: 'seed.sql' });
        ids.push(await query(db.url, 'select id from item order by 1'));
        await db.drop();
      }
      show(ids);`;
    assert.deepEqual(await run(cwd, code), [
      [1, 2],
      [1, 2],
    ]);
    await stopService(dataDir);
  });

  it('are not made by a migration that leaves a connection open, which the error shows', async () => {
    const { cwd } = await createProject();
    const code = `const run = async (connectionString) => {
      forgetServer();
      const client = new Client({ connectionString, application_name: 'orm' });
      await client.connect();
      await client.query('create table item ()');
    };
    // The open connection keeps the process.
    await branch({ migrate: { run, files: [] } }).catch(({ message }) => { console.error(message); process.exit(1); });`;
    await assert.rejects(run(cwd, code), /still in use.*Close connections.*\norm, idle/);
  });

  it('are not made by a failed migration, whose error the test gets', async () => {
    const { cwd, api } = await createProject();
    writeFileSync(path.join(cwd, 'migrations', '2.sql'), 'create nonsense');
    await assert.rejects(run(cwd, `await branch({ migrate: 'migrations' })`), /2\.sql:1: syntax error/);
    const nothing = `await branch({ migrate: { run: 'true', files: [] } })`;
    await assert.rejects(
      run(cwd, nothing),
      /created nothing in the database. Do they connect to DATABASE_URL/,
    );
    assert.deepEqual(
      (await api().branches(PROJECT)).map(({ name }) => name),
      ['main'],
    );
  });
});
