/** SQL of agents that changes a real database: what is committed, and what the agent learns of it. */
import assert from 'node:assert/strict';
import { extensionAdvice } from '../../../../src/base/sql/missingExtension.ts';
import type { BranchLogin } from '../../../../src/extension/connection/sqlSession.ts';
import { runStatement } from '../../../../src/extension/database/sql/sqlStatement.ts';
import { runSql } from '../../../../src/extension/agents/runSql.ts';
import { until } from '../../../workbench/until.ts';
import { connectTo, query, runStatements } from '../../service/postgres/clients.ts';
import { superuserUri } from '../../service/postgres/controlPlane.ts';
import { useBranch } from '../../service/postgres/useBranch.ts';

describe('runSql with write', () => {
  const branch = useBranch();
  let login: BranchLogin;
  let superuser: string;
  before(async () => {
    superuser = superuserUri(branch.service, branch.uri);
    const { host, username, password, pathname } = new URL(branch.uri);
    login = { host, role: username, password, database: pathname.slice(1) };
    await query(branch.uri, 'create table written (id int)');
  });

  const write = (sql: string, maxRows = 100) =>
    runSql(login, { sql, write: true, maxRows }, new AbortController().signal);

  it('commits one statement, and says what it did', async () => {
    assert.equal((await write('insert into written values (1), (2)')).command, 'INSERT 0 2');
    assert.equal((await write('create database another')).command, 'CREATE DATABASE');
    assert.equal((await write('vacuum written')).command, 'VACUUM');
    await write('do $$ begin insert into written values (3); end $$');
    assert.deepEqual(await query(branch.uri, 'select id from written order by 1'), [1, 2, 3]);
  });

  it('completes a change that returns more rows than wanted', async () => {
    const sql = 'insert into written select generate_series(10, 509) returning id';
    const { rows, truncated, command } = await write(sql, 2);
    assert.deepEqual([rows, truncated, command], [[['10'], ['11']], true, 'INSERT 0 500']);
    assert.deepEqual(await query(branch.uri, 'select count(*)::int from written where id >= 10'), [500]);
  });

  it('rejects several statements, and COPY from and to the client', async () => {
    await assert.rejects(write('delete from written; select 1'), /multiple commands/);
    await assert.rejects(write('copy written from stdin'), /COPY FROM STDIN is not supported/);
    await assert.rejects(write('copy written to stdout'), /COPY TO STDOUT is not supported/);
    await assert.rejects(write("copy written from program 'id'"), /permission denied/);
    await assert.rejects(write("copy written to '/tmp/x'"), /permission denied/);
    assert.deepEqual(await query(branch.uri, 'select count(*)::int from written'), [503]);
  });

  it('says what a rehearsal would have said about locks and losses, and nothing of what it has created', async () => {
    await runStatements(
      branch.uri,
      'create table owners (id int primary key, nick text, city text)',
      'create table pets (id int, owner int references owners on delete cascade)',
      'insert into owners select g from generate_series(1, 3) g',
      'insert into pets select g, 1 + g % 3 from generate_series(1, 12) g',
      'create index pets_owner on pets (owner)',
    );
    const note = async (sql: string) => (await write(sql)).note;
    const blocks = (uses: string, ...tables: readonly string[]) =>
      tables.map((table) => `Blocks all ${uses} of public.${table}.`).join(' ');
    const lost = (columns: string) =>
      `Loses the values of ${columns} of public.owners. The tool rehearse counts them, before.`;
    const both = 'reads and writes';
    assert.equal(await note('alter table owners drop nick'), `${lost('1 column')} ${blocks(both, 'owners')}`);
    const caught = 'begin alter table owners add nick text; exception when others then null; end';
    assert.equal(
      await note(`do $$ begin ${caught}; ${caught.replace('add nick text', 'drop nick, drop city')}; end $$`),
      `${lost('2 columns')} ${blocks(both, 'owners')}`,
    );
    assert.equal(
      await note('delete from owners where id = 1'),
      'Loses 1 row of public.owners. Loses 4 rows of public.pets.',
    );
    assert.equal(await note('create index on pets (id)'), blocks('writes', 'pets'));
    assert.equal(await note('reindex index pets_owner'), blocks(both, 'pets'));
    assert.equal(await note('truncate owners cascade'), blocks(both, 'owners', 'pets'));
    for (const sql of [
      'create table visits (id int primary key, at text)',
      `do $$ begin create table notes (id int primary key); ${caught.replace('owners', 'notes')}; end $$`,
      'insert into owners values (9)',
      'update owners set id = 8',
      'create index concurrently on pets (owner)',
      'vacuum pets',
      'drop table if exists nothing',
    ])
      assert.equal(await note(sql), undefined, sql);
  });

  it('describes five effects of a statement that locks many tables', async () => {
    const [first, ...others] = Array.from({ length: 30 }, (_, index) => `part_${index}`).toSorted();
    const tables = [first, ...others].map((name) => `create table ${name} (id int)`);
    await runStatements(branch.uri, ...tables);
    const { note = '' } = await write(`truncate ${[first, ...others].join(', ')}`);
    assert.match(
      note,
      /^Blocks all reads and writes of public\.part_0\. (Blocks [^.]+\.part_\d+\. ){4}And 25 more/,
    );
    assert(note.endsWith('And 25 more such effects.'), note);
    const six = await write(`truncate ${others.slice(0, 6).join(', ')}`);
    assert(six.note?.endsWith('And 1 more such effect.'), six.note);
  });

  it('commits a change if the role may not look at its effects', async () => {
    await runStatements(branch.uri, 'create table unseen (id int)', 'create sequence counted');
    await query(superuser, 'revoke select on pg_locks from public');
    try {
      const sql = "insert into unseen select nextval('counted')";
      const { command, note } = await write(sql);
      assert.deepEqual([command, note], ['INSERT 0 1', undefined]);
      assert.equal((await write('vacuum unseen')).command, 'VACUUM');
      await assert.rejects(write('select 1 / 0'), /division by zero/);
    } finally {
      await query(superuser, 'grant select on pg_locks to public');
    }
    // A second run would have taken the next number, which no rollback returns.
    assert.deepEqual(await query(branch.uri, 'select id from unseen'), [1]);
  });

  it('commits nothing that is canceled while its effects are looked at', async () => {
    await query(branch.uri, 'create table canceled (id int)');
    const client = await connectTo(branch.uri);
    const running = runStatement(client, {
      sql: 'insert into canceled values (1)',
      maxRows: 1,
      write: true,
      after: 'select pg_sleep(600)',
    });
    const rejected = assert.rejects(running, { code: '57014' });
    const pid = String((client as unknown as { processID: number }).processID);
    const state = `select query from pg_stat_activity where pid = ${pid}`;
    await until(
      'the look at its effects',
      async () => (await query(superuser, state))[0] === 'select pg_sleep(600)',
    );
    await query(superuser, `select pg_cancel_backend(${pid})`);
    await rejected;
    await client.end();
    assert.deepEqual(await query(branch.uri, 'select count(*)::int from canceled'), [0]);
  });

  it('commits nothing if a deferred constraint fails at the end', async () => {
    await runStatements(
      branch.uri,
      'create table deferred (id int, constraint once unique (id) deferrable initially deferred)',
    );
    await assert.rejects(write('insert into deferred values (1), (1)'), /duplicate key .* \(23505\)/);
    assert.deepEqual(await query(branch.uri, 'select count(*)::int from deferred'), [0]);
  });

  it('says how to get an extension that is missing', async () => {
    const hint = `Hint: ${extensionAdvice('vector')}`;
    await assert.rejects(write('create extension vector'), (error: Error) => error.message.endsWith(hint));
  });

  it('leaves no open transaction', async () => {
    await write('begin');
    await write('select 1');
    assert.deepEqual(await query(branch.uri, 'select count(*)::int from written'), [503]);
  });
});
