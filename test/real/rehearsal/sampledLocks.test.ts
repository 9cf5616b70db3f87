/** Rehearsals where the service doesn't see statements: locks and statements are sampled through a second connection. Timers: rehearsal/lockSampler.ts. */
import assert from 'node:assert/strict';
import { query } from '../service/postgres/clients.ts';
import {
  migrate,
  startRehearsals,
  verdictSentences,
  withoutDurations,
  type Rehearsals,
} from './rehearsals.ts';

describe('A rehearsal whose locks are sampled', () => {
  let rehearsals: Rehearsals;
  const rehearse = async (...statements: string[]) =>
    rehearsals.rehearse(async ({ url }) => migrate(url, statements));

  before(async () => {
    rehearsals = await startRehearsals({ isSampled: true });
    await query(rehearsals.url, 'create table users (id int primary key, nick text)');
    await query(rehearsals.url, "insert into users select g, 'n' from generate_series(1, 1204) g");
    await query(rehearsals.url, 'create table other (id int)');
  });
  after(() => rehearsals.service.stop());

  it('names who is kept from what, to the end of the transaction', async () => {
    const report = await rehearse(
      'begin',
      'alter table users add column age int',
      'select pg_sleep(1.1)',
      'commit',
    );
    const [blocked] = report.blocked;
    assert.deepEqual([blocked?.table, blocked?.blocks], ['public.users', 'reads']);
    // What lasts begins and ends up to the time between two samples late or early.
    const seen = 1100 - 2 * (report.sampled ?? 0);
    assert.ok((blocked?.milliseconds ?? 0) >= seen, JSON.stringify(report));
    const sleep = report.statements.find(({ text }) => text === 'select pg_sleep(1.1)');
    assert.ok((sleep?.milliseconds ?? 0) >= seen, JSON.stringify(report.statements));
  });

  it('counts what is lost also if its locks were too short to be seen', async () => {
    assert.deepEqual(withoutDurations(await rehearse('alter table users drop column nick')), [
      'Loses 1,204 values of public.users.nick.',
    ]);
    assert.deepEqual(withoutDurations(await rehearse('delete from users where id <= 7')), [
      'Loses 7 rows of public.users.',
    ]);
    assert.deepEqual(withoutDurations(await rehearse('update users set nick = null where id = 1')), [
      'Loses 1 value of public.users.nick.',
    ]);
    assert.deepEqual(withoutDurations(await rehearse('truncate users')), [
      'Loses 1,204 rows of public.users.',
    ]);
  });

  it('finds what adds safe, and says how it was seen', async () => {
    const report = await rehearse('alter table users add column age int', 'insert into other values (1)');
    assert.equal(report.verdict, 'safe', JSON.stringify(verdictSentences(report)));
    assert.ok(report.sampled !== undefined);
  });

  it('leaves the database to who copies it', async () => {
    const database = new URL(rehearsals.url).pathname.slice(1);
    const copy = `create database copied template ${database}`;
    // After the first one, there is no connection yet when the migration ends.
    for (const statements of [[copy], [copy, 'create table more (id int)']]) {
      const report = await rehearse(...statements);
      assert.equal(report.verdict, 'safe', JSON.stringify(verdictSentences(report)));
    }
  });

  it('does not call a migration safe that has left a session open', async () => {
    const clients: (() => Promise<unknown>)[] = [];
    const report = await rehearsals.rehearse(async ({ url }) => {
      clients.push(await openSession(url, 'delete from other'));
      return 0;
    });
    assert.deepEqual(verdictSentences(report), ['Incomplete: The migration has left a session open.']);
    for (const end of clients) await end();
  });
});

async function openSession(url: string, sql: string): Promise<() => Promise<void>> {
  const { default: pg } = await import('pg');
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  await client.query(sql);
  return async () => client.end().catch(() => undefined);
}
