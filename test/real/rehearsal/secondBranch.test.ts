/** A second branch costs as much as the first, so it is made only if something may be lost. Timers: service/postgres/rehearsal/lockReader.ts. */
import assert from 'node:assert/strict';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import { plainReportText } from '../../../src/rehearsal/text/terminalReport.ts';
import { connectTo, runStatements } from '../service/postgres/clients.ts';
import { serverTime } from '../service/postgres/keepHistory.ts';
import { migrate, startRehearsals, type Rehearsals } from './rehearsals.ts';

for (const [how, isSampled] of [
  ['whose statements are seen', false],
  ['whose locks are sampled', true],
] as const)
  describe(`A rehearsal ${how} makes a second branch`, () => {
    let rehearsals: Rehearsals;
    let api: Api;
    let project: string;

    before(async () => {
      rehearsals = await startRehearsals({ isSampled });
      api = branchCalls(rehearsals.service);
      const { projects } = await api.send<{ projects: { id: string; name: string }[] }>('GET', '');
      project = projects.find(({ name }) => name === 'rehearsals')?.id ?? assert.fail();
      // Its statistics are a change, after which a third branch is made.
      const settings = { pg_settings: { autovacuum: 'off' } };
      await api.change('PATCH', `/${project}/endpoints/${await computeId()}`, { endpoint: { settings } });
      await runStatements(
        rehearsals.url,
        'create table users (id int primary key, nick text)',
        "insert into users select g, 'n' from generate_series(1, 20) g",
        'create table applied (name text primary key, count int)',
        "insert into applied values ('first', 1)",
      );
    });
    after(() => rehearsals.service.stop());

    const computeId = async () => {
      const { endpoints } = await api.send('GET', `/${project}/branches/${rehearsals.branchId}/endpoints`);
      return endpoints[0]?.id;
    };
    const countCreations = async () => {
      const address = `/${project}/operations?limit=1000`;
      const { operations } = await api.send<{ operations: { action: string }[] }>('GET', address);
      return operations.filter(({ action }) => action === 'create_branch').length;
    };
    /** Returns how many branches were made, and what is lost. */
    const rehearse = async (run: (url: string) => Promise<number>) => {
      const before = await countCreations();
      const { losses, isComparedWithLater } = await rehearsals.rehearse(async ({ url }) => run(url));
      assert(!isComparedWithLater);
      return [
        (await countCreations()) - before,
        ...losses.map(({ name, kind, count }) => `${count} ${kind} of ${name}`),
      ];
    };
    const run = (...statements: readonly string[]) => rehearse(async (url) => migrate(url, statements));

    it('neither for a new column nor for the row in which a tool notes what it has applied', async () => {
      const added = ['alter table users add column age int', "insert into applied values ('second', 1)"];
      assert.deepEqual(await run(...added), [1]);
    });

    it('for rows that are deleted or changed', async () => {
      assert.deepEqual(await run('delete from users where id = 7'), [2, '1 rows of public.users']);
      const again = "insert into applied values ('first', 1) on conflict (name) do update set count = 2";
      assert.deepEqual(await run(again), [2]);
      assert.deepEqual(await run('delete from applied', "insert into applied values ('first', 1)"), [2]);
    });

    it('with the data of the first, although others have changed the branch since', async () => {
      const found = await rehearse(async (url) => {
        await runStatements(rehearsals.url, 'delete from users where id > 10', 'drop table if exists old');
        await runStatements(
          rehearsals.url,
          "insert into users select g, 'new' from generate_series(100, 500) g",
        );
        return migrate(url, ['delete from users where id in (8, 9)', 'alter table users drop column nick']);
      });
      await runStatements(rehearsals.url, 'truncate users');
      await runStatements(rehearsals.url, "insert into users select g, 'n' from generate_series(1, 20) g");
      assert.deepEqual(found.slice(1), ['20 values of public.users.nick', '2 rows of public.users']);
    });

    it('with the data of the first, although the branch was restored since', async () => {
      await runStatements(rehearsals.url, 'create table moment as select 1 as id');
      const restore = {
        source_branch_id: rehearsals.branchId,
        source_timestamp: await serverTime(rehearsals.url),
      };
      await runStatements(rehearsals.url, 'delete from users where id > 15');
      const found = await rehearse(async (url) => {
        await api.change('POST', `/${project}/branches/${rehearsals.branchId}/restore`, {
          ...restore,
          preserve_under_name: 'before',
        });
        // Now the new history has this position, too.
        await runStatements(rehearsals.url, 'create table filler as select from generate_series(1, 20000)');
        return migrate(url, ['delete from users where id = 7']);
      });
      assert.deepEqual(found.slice(1), ['1 rows of public.users']);
      await runStatements(rehearsals.url, 'drop table moment, filler');
    });

    it('not for an unlogged table, which is dangerous to drop and whose rows are missing', async () => {
      await runStatements(rehearsals.url, 'create unlogged table cache as select 1 as id');
      const before = await countCreations();
      const report = async (sql: string) =>
        plainReportText(await rehearsals.rehearse(async ({ url }) => migrate(url, [sql])));
      assert.match(await report('drop table cache'), /^May lose data of public\.cache: /);
      assert.match(await report('delete from cache'), /^Safe: [^]*\nThe copy has no rows of public\.cache/);
      assert.equal((await countCreations()) - before, 2);
      await runStatements(rehearsals.url, 'drop table cache');
    });

    it('while a session is open that may have changed others', async function () {
      if (isSampled) this.skip(); // Then the rehearsal is incomplete.
      const ends: (() => Promise<void>)[] = [];
      const found = await rehearse(async (url) => {
        const client = await connectTo(url);
        client.on('error', () => undefined);
        ends.push(() => client.end().catch(() => undefined));
        await client.query("insert into applied values ('second', 1)");
        return 0;
      });
      for (const end of ends) await end();
      assert.deepEqual(found, [2]);
    });

    it('once, also if the compute of the branch is idle', async () => {
      const address = `/${project}/endpoints/${await computeId()}/suspend`;
      await api.finish(project, (await api.send('POST', address, undefined, 200)).operations);
      assert.deepEqual(await run('delete from users where id = 7'), [2, '1 rows of public.users']);
    });

    it('of now if the branch keeps no history and others have changed it, and says so', async () => {
      await api.change('PATCH', `/${project}`, { project: { history_retention_seconds: 0 } });
      const hidden = await rehearsals.rehearse(async ({ url }) => {
        await runStatements(rehearsals.url, 'delete from users where id = 8');
        return migrate(url, ['delete from users where id = 7']);
      });
      assert.match(plainReportText(hidden), /^Safe: [^]*others' changes in the meantime count as well\./);
    });
  });
