/** What a migration breaks although it locks little and loses nothing: functions that Postgres doesn't know to depend on a table. */
import assert from 'node:assert/strict';
import { runStatements } from '../service/postgres/clients.ts';
import { superuserUri } from '../service/postgres/controlPlane.ts';
import { migrate, startRehearsals, saferForms, withoutDurations, type Rehearsals } from './rehearsals.ts';

const SCHEMA = [
  'create table users (id int generated always as identity primary key, nick text, size int)',
  `insert into users (nick) select 'nick ' || g from generate_series(1, 20) g`,
  'create table rates (name text primary key, value int)',
  `insert into rates values ('vat', 19)`,
  'create table log (text text)',
  'create table orders (id int primary key, customer int references users on delete cascade, total int)',
  'insert into orders select g, g, g from generate_series(1, 20) g',
  `create function audit() returns trigger language plpgsql as
    'begin insert into log values (old.nick); return coalesce(new, old); end'`,
  'create trigger audit before update or delete on users for each row execute function audit()',
  `create function noted() returns trigger language plpgsql as
    'begin insert into log (text) values (new.id); return new; end'`,
  'create constraint trigger noted after insert on orders initially deferred for each row execute function noted()',
  `create function rate(text) returns int language sql stable as 'select value from public.rates where name = $1'`,
  `create view prices as select id, total * rate('vat') as price from orders`,
  'create view plain as select id, nick from users',
  `create materialized view sums as select sum(total * rate('vat')) from orders`,
  `create function slow() returns int language plpgsql as 'begin perform pg_sleep(60); return 1; end'`,
  'create view endless as select slow()',
];

const COLUMN = 'record "old" has no field "nick"; PL/pgSQL function audit() line 1 at SQL statement';

describe('What a migration leaves, tried', () => {
  let rehearsals: Rehearsals;

  before(async () => {
    rehearsals = await startRehearsals();
    await runStatements(rehearsals.url, ...SCHEMA);
  });

  const rehearse = async (...sql: string[]) => {
    const report = await rehearsals.rehearse(async ({ url }) => migrate(url, sql));
    const { verdict, tried } = report;
    return { verdict, tried, says: withoutDurations(report), safer: saferForms(report) };
  };

  it('names a trigger whose function needs a column that was renamed', async () => {
    const { verdict, says, safer } = await rehearse('alter table users rename nick to nickname');
    assert.deepEqual(safer, ['public.users: renameInSteps']);
    assert.deepEqual(says, [`Breaks updates of public.users: ${COLUMN}`]);
    assert.equal(verdict, 'dangerous');
  });

  it('names a trigger that runs at the end of a transaction', async () => {
    const { says } = await rehearse('alter table log rename text to note');
    assert.deepEqual(says, [
      'Breaks deletes or inserts of public.orders: column "text" of relation "log" does not exist; PL/pgSQL function noted() line 1 at SQL statement',
    ]);
  });

  it('names views with a function that needs a table', async () => {
    const { says } = await rehearse('alter table rates rename to taxes');
    const error = 'relation "public.rates" does not exist; SQL function "rate"';
    assert.deepEqual(
      says.map((sentence) => sentence.replace(/ during (?:inlining|startup)/, '')),
      [`Breaks reads of public.prices: ${error}`, `Breaks refreshes of public.sums: ${error}`],
    );
  });

  it('names a view that was created again', async () => {
    const { says } = await rehearse(
      'drop view prices',
      `create function missing() returns int language plpgsql as 'begin return (select n from nowhere); end'`,
      'create view prices as select id, missing() as price from orders',
    );
    assert.deepEqual(says, [
      'Breaks reads of public.prices: relation "nowhere" does not exist; PL/pgSQL function missing() line 1 at RETURN',
    ]);
  });

  it('says nothing of what works, did not work before, or takes more than two seconds', async () => {
    const broken = [
      'create view broken as select rate(id::text), slow() from orders',
      `create function nothing() returns int language plpgsql as 'begin return (select n from nowhere); end'`,
      'create view failing as select nothing()',
    ];
    const { verdict, tried } = await rehearse(...broken, 'alter table orders rename total to sum');
    assert.deepEqual([verdict, tried.broken, tried.outside], ['safe', [], []]);
    // On a slow machine, others may take as long.
    for (const slow of ['public.broken', 'public.endless']) assert(tried.tooSlow.includes(slow), slow);
  });

  it('tries nothing if an extension may reach other servers', async () => {
    const { says, tried } = await rehearsals
      .rehearse(async ({ url }) => {
        await runStatements(superuserUri(rehearsals.service, url), 'create extension dblink');
        return migrate(url, ['alter table users rename nick to nickname']);
      })
      .then((report) => ({ says: withoutDurations(report), tried: report.tried }));
    assert.match(String(says), /^Safe: /);
    assert.deepEqual(tried.outside, ['dblink']);
  });
});
