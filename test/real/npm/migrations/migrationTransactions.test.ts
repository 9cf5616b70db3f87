/** The transactions in which the files of a folder run: those of the tool that the folder is for. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { runStep } from '../../../../src/npm/library/migrations.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { writeFiles } from '../../../helpers/writeFiles.ts';
import { query } from '../../service/postgres/clients.ts';
import { useDatabases } from './useDatabases.ts';

type Files = Readonly<Record<string, string>>;

const write = (files: Files, folder = path.join(temporaryFolder(), 'migrations')) =>
  writeFiles(files, folder);

describe('a folder of migrations', () => {
  const database = useDatabases();

  /** What works in a transaction only. The table `here` is in the schema `inv` then. */
  const INSIDE = `create schema if not exists inv;
set local search_path = inv;
create table here (id int primary key);
create temporary table kept (id int) on commit drop;
insert into kept values (1);
create table part (id int references here deferrable initially deferred);
insert into part values (1);
insert into here select id from kept;
savepoint one;
lock table here;
release savepoint one;
`;
  const uses = (tool: string): Files => ({
    'package.json': JSON.stringify({ dependencies: { [tool]: '1' } }),
  });

  it('runs in the transaction that its tool begins', async () => {
    const journal = JSON.stringify({ entries: [{ tag: '1_a' }, { tag: '2_b' }] });
    const folders: Readonly<
      Record<string, readonly [first: string, project: Files, others: Files, last: string]>
    > = {
      Drizzle: ['1_a', {}, { 'meta/_journal.json': journal }, 'inv'],
      'node-pg-migrate': ['1_a', uses('node-pg-migrate'), {}, 'inv'],
      'postgres-migrations': ['1_a', uses('postgres-migrations'), {}, 'public'],
      '@databases': ['1-a', uses('@databases/pg-migrations'), {}, 'public'],
      Marv: ['1_a', uses('marv'), {}, 'public'],
      Supabase: ['1_a', { 'config.toml': '' }, {}, 'public'],
      Prisma: ['1_a/migration', {}, { 'migration_lock.toml': '' }, 'public'],
      'golang-migrate': ['1_a.up', {}, { '1_a.down.sql': '' }, 'public'],
      Flyway: ['V1__a', {}, {}, 'public'],
      Atlas: ['1_a', {}, { 'atlas.sum': '' }, 'public'],
    };
    for (const [index, [tool, [first, project, others, last]]] of Object.entries(folders).entries()) {
      const url = await database(`inside_${index}`);
      const second = first.replace('1', '2').replace('a', 'b');
      const parent = tool === 'Supabase' ? path.join(temporaryFolder(), 'supabase') : temporaryFolder();
      const folder = write(
        { [`${first}.sql`]: INSIDE, [`${second}.sql`]: 'create table last ();', ...others },
        path.join(parent, 'migrations'),
      );
      write(project, parent);
      await runStep(folder, folder, url).catch((error: unknown) => assert.fail(`${tool}: ${String(error)}`));
      const found = await query(
        url,
        "select relnamespace::regnamespace::text || '.' || relname from pg_class where relname in ('here', 'last') and relkind = 'r' order by relname",
      );
      assert.deepEqual(found, ['inv.here', `${last}.last`], tool);
    }
  });

  it('is refused if it needs a transaction, and whether its tool begins one is unknown', async () => {
    const url = await database('needs');
    const cases = {
      'set local search_path = inv; create table here ();':
        /1_a\.sql says "SET LOCAL can only be used in transaction blocks".*add "begin;" and "commit;".*run: 'npm run migrate'/,
      'create table a ();\nlock table a;':
        /1_a\.sql:2 says "LOCK TABLE can only be used in transaction blocks".*add "begin;"/,
      'set constraints all deferred;':
        /1_a\.sql says "SET CONSTRAINTS can only be used in transaction blocks"/,
    };
    for (const [text, message] of Object.entries(cases)) {
      const folder = write({ '1_a.sql': text });
      await assert.rejects(runStep(folder, folder, url), message);
    }
    const right = write({
      '1_a.sql': 'begin; set local search_path = public; commit; create table right_one (); commit;',
    });
    await runStep(right, right, url);
    // A file runs as with psql, which only warns.
    const file = write({ '1_a.sql': 'set local search_path = inv; create table one ();' });
    await runStep(file, '1_a.sql', url);
  });

  it('is refused if it ends the transaction in which its tool runs it', async () => {
    const url = await database('ends');
    const texts = {
      'create table a (); commit; create table b ();': /ends the transaction/,
      'begin; create table c (); commit;': undefined,
    };
    for (const [text, message] of Object.entries(texts)) {
      const folder = write({ '1_a.sql': `-- migrate:up\n${text}` });
      if (message === undefined) await runStep(folder, folder, url);
      else await assert.rejects(runStep(folder, folder, url), message);
    }
    const parent = temporaryFolder();
    write(uses('node-pg-migrate'), parent);
    const folder = write({ '1_a.sql': 'create table d (); commit;' }, path.join(parent, 'migrations'));
    await assert.rejects(runStep(folder, folder, url), /ends the transaction.*npx node-pg-migrate up/);
  });
});
