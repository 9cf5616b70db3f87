import assert from 'node:assert/strict';
import type { HeldLock, LockMode, RehearsedStatement } from '../../../src/api/records/rehearsal.ts';
import type { DataLoss } from '../../../src/rehearsal/losses.ts';
import { reasonStatement } from '../../../src/rehearsal/reasonStatement.ts';
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
const lock = (table: string, mode: LockMode, index: number): HeldLock => ({
  database: 'app',
  id: 1,
  table,
  mode,
  from: 0,
  to: 1,
  statement: index,
});
const loss = (name: string, kind: DataLoss['kind']): VerdictReason => ({
  kind: 'loss',
  loss: { database: 'app', name, kind, count: 1 },
});

describe('The statement of a reason', () => {
  const find = (
    statements: readonly RehearsedStatement[],
    locks: readonly HeldLock[],
    reason: VerdictReason,
  ) => {
    const none = { blocked: [], losses: [], rewritten: [], reasons: [reason] };
    const tried = { broken: [], tooSlow: [], outside: [] };
    const report = { ...none, verdict: 'dangerous', statements, locks, tried } as unknown as RehearsalReport;
    return reasonStatement(report, reason)?.text;
  };

  it('is the one that drops the column, also if the lock was taken before', () => {
    const statements = [
      statement('alter table users add column a int', 'ALTER TABLE'),
      statement('alter table users drop column nick', 'ALTER TABLE'),
      statement('create index on users (id)', 'CREATE INDEX'),
    ];
    const locks = [lock('public.users', 'AccessExclusiveLock', 0)];
    assert.equal(find(statements, locks, loss('public.users.nick', 'values')), statements[1]?.text);
  });

  it('is the one that removes rows, and not another one of the table', () => {
    const statements = [
      statement('insert into users select', 'INSERT 0 1'),
      statement('delete from users', 'DELETE 3'),
      statement('create index on users (id)', 'CREATE INDEX'),
      statement('delete from other', 'DELETE 1', 2),
    ];
    const locks = [lock('public.users', 'RowExclusiveLock', 0), lock('public.other', 'RowExclusiveLock', 3)];
    assert.equal(find(statements, locks, loss('public.users', 'rows')), 'delete from users');
  });

  it('is the first with a lock of the table if none names what is lost, and else not known', () => {
    const statements = [statement('select 1', 'SELECT 1', 1), statement('call clean()', 'CALL', 2)];
    const locks = [lock('public.users', 'AccessExclusiveLock', 1)];
    assert.equal(find(statements, locks, loss('public.users.nick', 'values')), 'call clean()');
    assert.equal(find(statements, locks, loss('public.users2.nick', 'values')), undefined);
  });

  it('is the one that failed, or that took the lock', () => {
    const statements = [statement('select 1', 'SELECT 1'), statement('alter table users', 'ALTER TABLE')];
    const failed = { kind: 'failed', exitCode: 1, statement: statements[0], hasGoneOn: false } as const;
    assert.equal(find(statements, [], failed), 'select 1');
    const blocked = { database: 'app', table: 'public.users', blocks: 'reads', milliseconds: 1 } as const;
    const reason = { kind: 'blocked', blocked: { ...blocked, statements: [1] } } as const;
    assert.equal(find(statements, [], reason), 'alter table users');
    assert.equal(find(statements, [], { kind: 'incomplete', problem: 'No commit' }), undefined);
  });
});
