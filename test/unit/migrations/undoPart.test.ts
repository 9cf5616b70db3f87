import assert from 'node:assert/strict';
import { findUndoPart } from '../../../src/migrations/undoPart.ts';

describe('findUndoPart', () => {
  const UNDONE: Readonly<Record<string, readonly [text: string, reason: RegExp]>> = {
    'a table below a sentence': [
      'create table public.notes (id int);\n-- Rollback of the table creation\ndrop table notes;',
      /^has the line "-- Rollback of the table creation", so what follows may undo/,
    ],
    'a table without any comment': [
      'create table public."Notes" (id int);\ncreate index i on notes (id);\n\ndrop table if exists "Notes" cascade;',
      /^takes back in line 4 what it has done itself \(table Notes\)/,
    ],
    'one of several tables': ['create table a ();drop table b, x.a;', /\(table a\)/],
    'a column': ['alter table a add b int, add c int; alter table only a drop column b;', /\(column a\.b\)/],
    'an index': [
      'create unique index concurrently if not exists i on a (b); drop index concurrently i;',
      /\(index i\)/,
    ],
    'a function and its trigger': [
      'create function f() returns trigger language sql as $$ $$; create trigger t before update on a execute function f(); drop trigger t on a; drop function f();',
      /\(trigger a\.t\)/,
    ],
    'a constraint': [
      'alter table a add constraint c check (b > 0); alter table a drop constraint c;',
      /\(constraint a\.c\)/,
    ],
    'a name': [
      'alter table a rename b to c; alter table a rename column c to b;',
      /\(name a\.c → b\)|\(name a\.b → c\)/,
    ],
    'the name of a table': ['alter table a rename to b; alter table b rename to a;', /\(name /],
    'rows below a word': ['insert into a values (1);\n-- down\ndelete from a;', /has the line "-- down"/],
    'a column below a word': ['select 1;\n-- undo\nalter table a drop b;', /has the line "-- undo"/],
  };
  for (const [what, [text, reason]] of Object.entries(UNDONE))
    it(`finds what takes back ${what}`, () => assert.match(findUndoPart(text) ?? 'nothing', reason));

  const RUN: Readonly<Record<string, string>> = {
    'two harmless statements with such a comment between':
      'select 1;\n-- rollback log\ncreate table rollback_log ();\nalter table rollback_log add a int;',
    'such a comment before the first statement': '-- rollback\ndrop table a;',
    'a longer comment': 'select 1;\n-- The next one can be undone (down: drop it).\ndrop table old;',
    'a table that is created again': 'drop table if exists a; create table a ();',
    'a table that is replaced': 'create table b (); drop table a; alter table b rename to a;',
    'a temporary table': 'create temp table a (); drop table a;',
    'a function that it has called':
      'create function f() returns int language sql as $$ select 1 $$; select f(); drop function f();',
    'a constraint for NOT NULL':
      'alter table a add constraint c check (b is not null) not valid; alter table a validate constraint c; alter table a alter b set not null; alter table a drop constraint c;',
    'a trigger of another table':
      'create trigger t before update on a execute function f(); drop trigger t on b;',
    'a column of another table': 'alter table a add b int; alter table c drop b;',
    'what is in a body': 'create table a (); do $$ begin drop table a; end $$;',
  };
  for (const [what, text] of Object.entries(RUN))
    it(`finds nothing in ${what}`, () => assert.equal(findUndoPart(text), undefined));
});
