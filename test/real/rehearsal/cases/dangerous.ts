/** Migrations that are dangerous on the seeded tables. */
import type { Dangerous } from './case.ts';
import { LOCKS } from './locks.ts';

const LOSSES: readonly Dangerous[] = [
  {
    title: 'a column goes in which 300 rows have a value',
    sql: ['alter table people drop column nick'],
    says: ['Loses 300 values of public.people.nick.'],
  },
  {
    title: 'two columns go with their values, and a third that has none',
    sql: ['alter table people drop column nick, drop column unused, drop column code'],
    says: ['Loses 300 values of public.people.nick.', 'Loses 1,000 values of public.people.code.'],
  },
  {
    title: 'a table goes with its rows',
    sql: ['drop table visits'],
    says: ['Loses 91 rows of public.visits.'],
  },
  {
    title: 'a table goes, and those that refer to it keep their rows',
    sql: ['drop table owners cascade'],
    says: ['Loses 20 rows of public.owners.'],
  },
  { title: 'a table is emptied', sql: ['truncate visits'], says: ['Loses 91 rows of public.visits.'] },
  {
    title: 'emptying a table empties those that refer to it',
    sql: ['truncate owners cascade'],
    says: ['Loses 20 rows of public.owners.', 'Loses 100 rows of public.pets.'],
  },
  {
    title: 'some rows are deleted',
    sql: ['delete from visits where pet not in (select id from pets)'],
    says: ['Loses 1 row of public.visits.'],
  },
  {
    title: 'deleting rows deletes those that refer to them',
    sql: ['begin', 'delete from owners where id <= 2', 'commit'],
    says: ['Loses 2 rows of public.owners.', 'Loses 10 rows of public.pets.'],
  },
  {
    title: 'a schema goes with a table in it',
    sql: ['drop schema archive cascade'],
    says: ['Loses 70 rows of archive.old.'],
  },
  {
    title: 'a partition goes with its rows',
    sql: ['drop table events_1'],
    says: ['Loses 100 rows of public.events_1.'],
  },
  {
    title: 'a type goes with the column that has it',
    sql: ['drop type mood cascade'],
    says: ['Loses 40 values of public.people.feeling.'],
  },
  {
    title: 'a type gets another and cuts values off',
    sql: ['alter table people alter column email type varchar(8) using left(email, 8)'],
    says: ['Changes values of public.people.email: text → character varying(8).'],
  },
  {
    title: 'a number loses its decimal places',
    sql: ['alter table people alter column price type int'],
    says: ['Changes values of public.people.price: numeric(10,2) → integer.'],
  },
  {
    title: 'a number loses one of its decimal places',
    sql: ['alter table people alter column price type numeric(10, 1)'],
    says: ['Changes values of public.people.price: numeric(10,2) → numeric(10,1).'],
  },
  {
    title: 'a time loses its hours',
    sql: ['alter table people alter column joined type date'],
    says: ['Changes values of public.people.joined: timestamp with time zone → date.'],
  },
  {
    title: 'an enumeration loses one of its values',
    sql: [
      `create type new_mood as enum ('good')`,
      `alter table people alter column feeling type new_mood using (case when feeling = 'good' then 'good'::new_mood end)`,
    ],
    says: ['Loses 40 values of public.people.feeling.'],
  },
  {
    title: 'the values of a column are set to nothing',
    sql: ['update people set nick = null where id <= 100'],
    says: ['Loses 100 values of public.people.nick.'],
  },
  {
    title: 'a column goes, and a new one without values gets its name',
    sql: [
      'begin',
      'alter table people drop column nick',
      'alter table people add column nick varchar(30)',
      'commit',
    ],
    says: ['Loses 300 values of public.people.nick.'],
  },
  {
    title: 'a table goes, and a new one with fewer rows gets its name',
    sql: [
      'begin',
      'create table visits_new (id int primary key, pet int, vet int, note text)',
      'insert into visits_new select id, pet, vet, note from visits where vet is not null',
      'drop table visits',
      'alter table visits_new rename to visits',
      'commit',
    ],
    says: ['Loses 1 row of public.visits.'],
  },
  {
    title: 'a function deletes rows, which no statement of the migration shows',
    sql: [`do $$ begin execute format('del%s from archive.old where id > 60', 'ete'); end $$`],
    says: ['Loses 10 rows of archive.old.'],
  },
];

const FAILURES: readonly Dangerous[] = [
  {
    title: '20 rows have the email address of another',
    sql: ['create unique index on people (email)'],
    says: [
      'Fails at “create unique index on people (email)”: could not create unique index "people_email_idx". Key (email)=(e20@example.com) is duplicated.',
    ],
  },
  {
    title: 'rows have no value',
    sql: ['alter table people alter column nick set not null'],
    says: [
      'Fails at “alter table people alter column nick set not null”: column "nick" of relation "people" contains null values',
    ],
  },
  {
    title: 'rows fail a condition',
    sql: ['alter table people add constraint grown check (age >= 18)'],
    says: [
      'Fails at “alter table people add constraint grown check (age >= 18)”: check constraint "grown" of relation "people" is violated by some row',
    ],
  },
  {
    title: 'a row refers to nothing',
    sql: ['alter table visits add constraint pets foreign key (pet) references pets'],
    says: [
      'Fails at “alter table visits add constraint pets foreign key (pet) references pets”: insert or update on table "visits" violates foreign key constraint "pets". Key (pet)=(1000) is not present in table "pets".',
    ],
  },
  {
    title: 'values are too large for the new type',
    sql: ['alter table people alter column height type smallint'],
    says: ['Fails at “alter table people alter column height type smallint”: smallint out of range'],
  },
  {
    title: 'values are not numbers',
    sql: ['alter table people alter column code type int using code::int'],
    says: [
      'Fails at “alter table people alter column code type int using code::int”: invalid input syntax for type integer: "x1"',
    ],
  },
  {
    title: 'a new value of an enumeration is used in the transaction that adds it',
    sql: ['begin', `alter type state add value 'back'`, `update pets set kind = 'back'`, 'commit'],
    says: [`Fails at “update pets set kind = 'back'”: unsafe use of new value "back" of enum type state`],
  },
  {
    title: 'an index is built concurrently in a transaction',
    sql: ['begin', 'create index concurrently on people (born)', 'commit'],
    says: [
      'Fails at “create index concurrently on people (born)”: CREATE INDEX CONCURRENTLY cannot run inside a transaction block',
    ],
  },
  {
    title: 'a view needs the column whose type changes',
    sql: ['alter table people alter column name type varchar(100)'],
    says: [
      'Fails at “alter table people alter column name type varchar(100)”: cannot alter type of a column used by a view or rule. rule _RETURN on view names depends on column "name"',
    ],
  },
  {
    title: 'a view needs the column that goes',
    sql: ['alter table people drop column name'],
    says: [
      'Fails at “alter table people drop column name”: cannot drop column name of table people because other objects depend on it. view names depends on column name of table people',
    ],
  },
  {
    title: 'rows have no value for a new column that needs one',
    sql: ['alter table people add column country text not null'],
    says: [
      'Fails at “alter table people add column country text not null”: column "country" of relation "people" contains null values',
    ],
  },
];

export const DANGEROUS: readonly Dangerous[] = [...LOSSES, ...FAILURES, ...LOCKS];
