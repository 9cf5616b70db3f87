import assert from 'node:assert/strict';
import type { HeldLock, LockMode, RehearsedStatement } from '../../../src/api/records/rehearsal.ts';
import type { DataLoss } from '../../../src/rehearsal/losses.ts';
import { fileVerdicts, reasonStatements } from '../../../src/rehearsal/reasonStatement.ts';
import type { RehearsalReport } from '../../../src/rehearsal/report.ts';
import type { VerdictReason } from '../../../src/rehearsal/verdict.ts';

const statement = (text: string, tag: string, transaction = 1): RehearsedStatement => ({
  session: 1,
  transaction,
  text,
  from: 0,
  milliseconds: 1,
  tags: [tag],
});
const lock = (table: string, mode: LockMode, index: number, id = 1): HeldLock => ({
  database: 'app',
  id,
  table,
  mode,
  from: 0,
  to: 1,
  statement: index,
});
const loss = (name: string, kind: DataLoss['kind'], fate: DataLoss['fate'] = 'kept'): VerdictReason => {
  const [, , column] = name.split('.');
  const lost = { database: 'app', tables: [1], name, kind, fate, count: 1 };
  return { kind: 'loss', loss: column === undefined ? lost : { ...lost, column } };
};

describe('The statement of a reason', () => {
  const find = (
    statements: readonly RehearsedStatement[],
    locks: readonly HeldLock[],
    reason: VerdictReason,
  ) => {
    const none = { blocked: [], losses: [], rewritten: [], reasons: [reason] };
    const tried = { broken: [], tooSlow: [], outside: [] };
    const report = { ...none, verdict: 'dangerous', statements, locks, tried } as unknown as RehearsalReport;
    return reasonStatements(report, reason).map(({ text }) => text);
  };

  it('is the one that drops the column, also if the lock was taken before', () => {
    const statements = [
      statement('alter table users add column nickname int', 'ALTER TABLE'),
      statement('alter table users drop column "nick"', 'ALTER TABLE'),
      statement('create index on users (id)', 'CREATE INDEX'),
      statement('update users set id = 1', 'UPDATE 3'),
    ];
    const locks = [lock('public.users', 'AccessExclusiveLock', 0)];
    const gone = loss('public.users.nick', 'values', 'gone');
    assert.deepEqual(find(statements, locks, gone), [statements[1]?.text]);
  });

  it('is the one that empties the column, and not one that adds another', () => {
    const statements = [
      statement('update users set name = null', 'UPDATE 3', 1),
      statement('alter table users add column display_name text', 'ALTER TABLE', 2),
    ];
    const locks = [
      lock('public.users', 'RowExclusiveLock', 0),
      lock('public.users', 'AccessExclusiveLock', 1),
    ];
    assert.deepEqual(find(statements, locks, loss('public.users.name', 'values')), [statements[0]?.text]);
  });

  it('is any of those that may have removed rows, also if Postgres calls them otherwise', () => {
    const statements = [
      statement('with o as (delete from users returning *) insert into old select * from o', 'INSERT 0 3'),
      statement('delete from users', 'DELETE 0'),
      statement('alter table users add age int', 'ALTER TABLE'),
      statement('create index on users (id)', 'CREATE INDEX'),
      statement('commit', 'COMMIT'),
      statement('delete from other', 'DELETE 1', 2),
    ];
    const locks = [
      lock('public.users', 'RowExclusiveLock', 0),
      lock('public.other', 'RowExclusiveLock', 5, 2),
    ];
    const both = statements.slice(0, 2).map(({ text }) => text);
    assert.deepEqual(find(statements, locks, loss('public.users', 'rows')), both);
  });

  it('is the one that drops the table, and not those that change its rows', () => {
    const statements = [
      statement('delete from users', 'DELETE 3'),
      statement('drop table users', 'DROP TABLE'),
    ];
    const locks = [lock('public.users', 'RowExclusiveLock', 0)];
    assert.deepEqual(find(statements, locks, loss('public.users', 'rows', 'gone')), ['drop table users']);
  });

  it('is one with a lock of the table, or else not known', () => {
    const statements = [statement('select 1', 'SELECT 1', 1), statement('call clean()', 'CALL', 2)];
    const lockOf = (id: number) => [lock('public.users', 'AccessExclusiveLock', 1, id)];
    assert.deepEqual(find(statements, lockOf(1), loss('public.users.nick', 'values')), ['call clean()']);
    assert.deepEqual(find(statements, lockOf(2), loss('public.users2.nick', 'values')), []);
  });

  it('is found by the table, which may have another name by then', () => {
    const statements = [
      statement('alter table users rename to people', 'ALTER TABLE', 1),
      statement('drop table people', 'DROP TABLE', 2),
    ];
    const locks = [
      lock('public.users', 'AccessExclusiveLock', 0),
      lock('public.people', 'AccessExclusiveLock', 1),
    ];
    assert.deepEqual(find(statements, locks, loss('public.users', 'rows', 'gone')), ['drop table people']);
  });

  it('is one about another table that had the name in between', () => {
    const statements = [
      statement('drop table users', 'DROP TABLE', 1),
      statement('delete from users', 'DELETE 3', 2),
    ];
    const locks = [
      lock('public.users', 'AccessExclusiveLock', 0, 1),
      lock('public.users', 'RowExclusiveLock', 1, 2),
    ];
    const texts = statements.map(({ text }) => text);
    assert.deepEqual(find(statements, locks, loss('public.users', 'rows', 'replaced')), texts);
  });

  it('may be any change of the table after the column was renamed, and none before', () => {
    const renamings = [
      ['alter table users rename column nick to alias', 'ALTER TABLE'],
      ["do $$ begin execute 'alter table users rename nick to alias'; end $$", 'DO'],
    ] as const;
    for (const [text, tag] of renamings) {
      const statements = [
        statement('alter table users add column age int', 'ALTER TABLE', 1),
        statement(text, tag, 2),
        statement('alter table users drop column alias', 'ALTER TABLE', 3),
      ];
      const locks = statements.map((_, index) => lock('public.users', 'AccessExclusiveLock', index));
      assert.deepEqual(find(statements, locks, loss('public.users.nick', 'values', 'gone')), [
        text,
        'alter table users drop column alias',
      ]);
    }
  });

  it('is not a later change if another column was renamed', () => {
    const statements = [
      statement('alter table users rename column email to mail', 'ALTER TABLE', 1),
      statement('alter table users add column age int', 'ALTER TABLE', 2),
      statement('alter table users drop column nick', 'ALTER TABLE', 3),
    ];
    const locks = statements.map((_, index) => lock('public.users', 'AccessExclusiveLock', index));
    assert.deepEqual(find(statements, locks, loss('public.users.nick', 'values', 'gone')), [
      'alter table users drop column nick',
    ]);
  });

  it('may be one of which the service has kept only the beginning', () => {
    const long = `alter table users ${'add column c int, '.repeat(1000)}`;
    const statements = [
      statement('alter table users alter column nick drop default', 'ALTER TABLE', 1),
      statement(long, 'ALTER TABLE', 2),
    ];
    const locks = statements.map((_, index) => lock('public.users', 'AccessExclusiveLock', index));
    assert.equal(find(statements, locks, loss('public.users.nick', 'values', 'gone')).length, 2);
  });

  it('may be any change for a table that fails afterwards', () => {
    const statements = [
      statement('begin', 'BEGIN'),
      statement('create or replace function audit() returns trigger as …', 'CREATE FUNCTION'),
      statement('alter table users add age int', 'ALTER TABLE'),
    ];
    const locks = [lock('public.users', 'AccessExclusiveLock', 2)];
    const broken = { database: 'app', name: 'public.users', does: 'updates', error: '' } as const;
    const both = statements.slice(1).map(({ text }) => text);
    assert.deepEqual(find(statements, locks, { kind: 'broken', broken }), both);
  });

  it('may be one without a tag, as an account has them, unless it failed or is only a comment', () => {
    const sampled = (text: string) => ({
      ...statement(text, ''),
      tags: [],
      place: { file: '1.sql', line: 1 },
    });
    const error = { code: '42P01', message: '' };
    const statements = [
      sampled('create or replace function audit() returns trigger as …'),
      { ...sampled('alter table b add age int'), error },
      sampled('-- nothing'),
    ];
    const broken = { database: 'app', name: 'public.users', does: 'updates', error: '' } as const;
    const reason = { kind: 'broken', broken } as const;
    const first = statements.slice(0, 1);
    assert.deepEqual(
      find(statements, [], reason),
      first.map(({ text }) => text),
    );
    assert.deepEqual(fileVerdicts({ statements: first, locks: [] }, [reason], ['1.sql']), [
      { file: '1.sql', verdict: 'dangerous' },
    ]);
    const locks = [lock('public.users', 'RowExclusiveLock', 0)];
    assert.deepEqual(
      find(statements, locks, loss('public.users', 'rows')),
      first.map(({ text }) => text),
    );
  });

  it('leaves the verdict about a file open if another one may be the cause', () => {
    const inFile = (file: string, text: string) => ({
      ...statement(text, 'UPDATE 1'),
      place: { file, line: 1 },
    });
    const statements = ['1.sql', '2.sql', '3.sql'].map((file) =>
      inFile(file, 'update users set name = f(name)'),
    );
    const locks = [lock('public.users', 'RowExclusiveLock', 1)];
    assert.deepEqual(
      fileVerdicts(
        { statements, locks },
        [loss('public.users.name', 'values')],
        ['1.sql', '2.sql', '3.sql', '4.sql'],
      ),
      [
        { file: '1.sql', verdict: 'safe' },
        { file: '2.sql', verdict: 'unclear' },
        { file: '3.sql', verdict: 'unclear' },
        { file: '4.sql', verdict: 'not run' },
      ],
    );
  });

  it('is the one that failed, or that took the lock', () => {
    const statements = [statement('select 1', 'SELECT 1'), statement('alter table users', 'ALTER TABLE')];
    const failed = { kind: 'failed', exitCode: 1, statement: statements[0], hasGoneOn: false } as const;
    assert.deepEqual(find(statements, [], failed), ['select 1']);
    const blocked = {
      database: 'app',
      table: 'public.users',
      blocks: 'reads',
      from: 0,
      milliseconds: 1,
    } as const;
    const reason = { kind: 'blocked', blocked: { ...blocked, statements: [1] } } as const;
    assert.deepEqual(find(statements, [], reason), ['alter table users']);
    assert.deepEqual(find(statements, [], { kind: 'incomplete', problem: 'No commit' }), []);
  });
});
