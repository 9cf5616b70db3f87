/** Whether the down step of a migration restores the data and the schema, and whom it keeps from what. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { downCommandOf } from '../../../src/migrations/migrationTools.ts';
import { plainReportText } from '../../../src/rehearsal/text/terminalReport.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { runStatements } from '../service/postgres/clients.ts';
import { LONGEST_LOCK } from './seededTables.ts';
import {
  migrate,
  startRehearsals,
  verdictSentences,
  withoutDurations,
  type Rehearsals,
} from './rehearsals.ts';

const SCHEMA = [
  'create table users (id int primary key, nick text, email text not null)',
  `insert into users select g, case when g <= 1204 then 'nick ' || g end, 'e' || g from generate_series(1, 2000) g`,
  'create index users_email on users (email)',
  'create table notes (id int primary key, text text)',
  `insert into notes select g, 'text' from generate_series(1, 5) g`,
];

describe('The way back of a migration', () => {
  let rehearsals: Rehearsals;

  before(async () => {
    rehearsals = await startRehearsals();
    await runStatements(rehearsals.url, ...SCHEMA);
  });

  const rehearse = async (up: readonly string[], down: readonly string[], longestLock?: number) =>
    rehearsals.rehearse(
      async ({ url }) => migrate(url, up),
      { run: async ({ url }) => migrate(url, down) },
      longestLock,
    );

  it('is safe if it restores all', async () => {
    const report = await rehearse(
      ['alter table users add age int', 'create index users_age on users (age)', 'drop index users_email'],
      ['create index users_email on users (email)', 'alter table users drop age'],
    );
    assert.equal(report.verdict, 'safe', verdictSentences(report).join(' '));
    assert.deepEqual(report.wayBack?.left, []);
    assert.match(
      plainReportText(report),
      /\n\nWay back:\n +[\d.]+ (?:ms|sec) {2}create index users_email on users \(email\)\n/,
    );
    assert.doesNotMatch(plainReportText(report), /Undo/);
  });

  it('does not need the former order of columns', async () => {
    const { verdict, wayBack } = await rehearse(
      ['alter table notes rename id to number', 'alter table notes add extra int'],
      ['alter table notes drop extra', 'alter table notes rename number to id'],
    );
    assert.deepEqual([verdict, wayBack?.left], ['safe', []]);
    const again = await rehearse(
      [
        'begin',
        'alter table users add copy text',
        'update users set copy = nick',
        'alter table users drop nick',
        'commit',
      ],
      ['alter table users add nick text', 'update users set nick = copy', 'alter table users drop copy'],
    );
    assert.deepEqual(withoutDurations(again), ['Loses 1,204 values of public.users.nick.']);
  });

  it('does not restore values by adding their column', async () => {
    const report = await rehearse(
      ['alter table users drop column nick'],
      ['alter table users add column nick text'],
    );
    assert.equal(report.verdict, 'dangerous');
    assert.deepEqual(withoutDurations(report), [
      'Loses 1,204 values of public.users.nick.',
      'Way back: Loses 1,204 values of public.users.nick.',
    ]);
  });

  it('forgets an index, a NOT NULL or a default, and may leave something', async () => {
    const report = await rehearse(
      [
        'drop index users_email',
        'alter table users alter email drop not null',
        'alter table users add age int default 7',
      ],
      ['select 1'],
    );
    assert.deepEqual(withoutDurations(report), [
      "Way back: Doesn't restore this part of the schema: email text NOT NULL CREATE INDEX users_email ON public.users USING btree (email);",
    ]);
    assert.deepEqual(report.wayBack?.left, ['email text', 'age integer DEFAULT 7']);
  });

  it('does not restore a column by adding one to another table', async () => {
    const report = await rehearse(
      ['alter table users drop column email'],
      ['alter table notes add column email text default $$$$ not null'],
    );
    assert.equal(report.verdict, 'dangerous');
    const other = await rehearse(
      ['alter table users add extra int', 'create table more (extra int)', 'alter table notes drop text'],
      ['alter table users drop extra', 'alter table users add text text', 'drop table more'],
    );
    const sentence = "Way back: Doesn't restore this part of the schema: text text";
    assert.ok(withoutDurations(other).includes(sentence), withoutDurations(other).join('\n'));
    assert.deepEqual(other.wayBack?.left, ['text text']);
  });

  it('may fail, or block others', async () => {
    const failing = await rehearse(['alter table users add age int'], ['alter table users drop ages']);
    assert.equal(failing.verdict, 'dangerous');
    assert.deepEqual(withoutDurations(failing), [
      'Way back: Fails at “alter table users drop ages”: column "ages" of relation "users" does not exist',
    ]);
    const slow = await rehearse(
      ['alter table users add age int'],
      ['begin', 'alter table users drop age', `select pg_sleep(${(LONGEST_LOCK / 1000) * 1.2})`, 'commit'],
      LONGEST_LOCK,
    );
    assert.deepEqual(withoutDurations(slow), ['Way back: Blocks all reads and writes of public.users.']);
  });

  it('is not tried after a migration that fails, nor needed for one that loses nothing', async () => {
    const failed = await rehearse(['alter table users drop nothing'], ['drop table users']);
    assert.equal(failed.wayBack, undefined);
    assert.match(String(verdictSentences(failed)), /^Fails at “alter table users drop nothing”/);
  });

  it('is that of the tool, for as many files as it has applied', async () => {
    const folder = temporaryFolder();
    symlinkSync(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
    mkdirSync(path.join(folder, 'migrations'));
    const files = {
      '1700000000000_first.sql':
        '-- Up Migration\nalter table users add age int;\n-- Down Migration\nalter table users drop age;\n',
      '1700000000001_second.sql':
        '-- Up Migration\nalter table notes drop text;\ncreate table tags as select 1 as id;\n-- Down Migration\nalter table notes add text text;\ndelete from tags;\n',
    };
    for (const [name, text] of Object.entries(files))
      writeFileSync(path.join(folder, 'migrations', name), text);
    const down = downCommandOf('npx node-pg-migrate up');
    assert(down !== undefined);
    const run = async (command: string, url: string) => {
      const env = { ...process.env, DATABASE_URL: url };
      const child = spawn(command, { cwd: folder, env, shell: true, stdio: 'ignore' });
      const [code]: unknown[] = await once(child, 'exit');
      return Number(code);
    };
    const report = await rehearsals.rehearse(async ({ url }) => run('npx node-pg-migrate up', url), {
      tool: down,
      run: async ({ url }) => run(down.command, url),
    });
    assert.deepEqual(withoutDurations(report), [
      'Loses 5 values of public.notes.text.',
      'Way back: Loses 5 values of public.notes.text.',
    ]);
    assert.deepEqual(report.wayBack?.left, ['CREATE TABLE public.pgmigrations', 'CREATE TABLE public.tags']);
  });
});
