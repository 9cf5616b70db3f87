import assert from 'node:assert/strict';
import type { Rehearsal, RehearsedStatement } from '../../../src/api/records/rehearsal.ts';
import { reportOf, textOf } from '../../../src/rehearsal/report.ts';
import type { Tried } from '../../../src/rehearsal/trials.ts';

const statement: RehearsedStatement = {
  session: 1,
  transaction: 1,
  text: 'alter table orders\n  add column note text',
  from: 0,
  milliseconds: 12.4,
  tags: ['ALTER TABLE'],
};
const rehearsal: Rehearsal = { statements: [statement], locks: [], before: [], after: [] };

const NOTHING: Tried = { broken: [], tooSlow: [], outside: [] };

const report = (more: Partial<Rehearsal> = {}, exitCode = 0, tried: Tried = NOTHING) =>
  reportOf({ rehearsal: { ...rehearsal, ...more }, losses: [], tried, exitCode }, { longestLock: 1000 });

describe('The report of a rehearsal', () => {
  it('begins with the verdict', () => {
    const safe = report();
    assert.equal(safe.verdict, 'safe');
    assert.equal(
      textOf(safe),
      'Safe: 1 statement, 12 ms, no lock that others would notice.\n\n     12 ms  alter table orders add column note text\n            ALTER TABLE',
    );
  });

  it('calls nothing safe that was not seen to the end', () => {
    const { verdict, sentences } = report({ problem: 'Commits were not held.' });
    assert.equal(verdict, 'failed');
    assert.deepEqual(sentences, ['Incomplete: Commits were not held.']);
  });

  it('calls a command failed that has sent nothing to the copy, unless its own failure says why', () => {
    const unused = report({ statements: [] });
    assert.equal(unused.verdict, 'failed');
    assert.deepEqual(unused.sentences, [
      'Nothing was rehearsed: no statement reached the copy. A command must connect to DATABASE_URL.',
    ]);
    assert.deepEqual(report({ statements: [] }, 7).sentences, ['Fails: the command ended with code 7.']);
  });

  it('calls what is never committed failed, once for each transaction', () => {
    const sent = { ...statement, isUncommitted: true } as const;
    const statements = [{ ...sent, text: 'begin' }, sent, { ...sent, transaction: 9, text: 'drop table b' }];
    const { verdict, sentences } = report({ statements });
    assert.equal(verdict, 'failed');
    assert.deepEqual(
      sentences,
      ['alter table orders add column note text', 'drop table b'].map(
        (text) => `Isn't committed: a connection ends after "${text}", so its transaction is rolled back.`,
      ),
    );
    assert.deepEqual(report({ statements }, 7).sentences, ['Fails: the command ended with code 7.']);
  });

  it('says for how many rows others wait, if not for all', () => {
    const table = { database: 'app', id: 1, name: 'orders', kind: 'r', file: 1, bytes: 0, columns: {} };
    const lock = {
      database: 'app',
      id: 1,
      table: 'orders',
      mode: 'RowExclusiveLock',
      from: 0,
      to: 2000,
    } as const;
    const long = report({ before: [table], after: [table], locks: [{ ...lock, statement: 0, rows: 1204 }] });
    assert.equal(long.verdict, 'dangerous');
    assert.deepEqual(long.sentences, ['Blocks writes of 1,204 rows of orders for 2.0 s.']);
    assert.match(textOf(long), /orders: writes of 1,204 rows wait up to 2\.0 s$/m);
  });

  it('names the statement that failed, or else the code of the command', () => {
    const error = { code: '23505', message: 'duplicate key', detail: 'Key (id)=(1) exists.' };
    const failed = report({ statements: [{ ...statement, error }] }, 1);
    assert.deepEqual(failed.sentences, [
      'Fails at "alter table orders add column note text": duplicate key. Key (id)=(1) exists.',
    ]);
    assert.deepEqual(report({}, 7).sentences, ['Fails: the command ended with code 7.']);
  });

  it('does not say that a command failed at an error after which it has gone on', () => {
    const error = { code: '42P01', message: 'no such table' };
    const asks = { ...statement, text: 'select from notes', tags: [], error };
    const after = (...tags: string[]) =>
      report({ statements: [asks, { ...statement, tags }] }, 7).sentences.join();
    assert.equal(
      after('CREATE TABLE'),
      'Fails: the command ended with code 7. The last error of Postgres was at "select from notes": no such table',
    );
    assert.equal(after('ROLLBACK'), 'Fails at "select from notes": no such table');
    const skipped = { ...asks, text: 'select 1', error: { code: '25P02', message: 'aborted' } };
    assert.deepEqual(report({ statements: [asks, skipped] }, 7).sentences, [
      'Fails at "select from notes": no such table',
    ]);
    const placed = { ...asks, place: { file: '1.sql', line: 2 } };
    assert.deepEqual(report({ statements: [placed, statement] }, 7).sentences, [
      'Fails at "select from notes": no such table (1.sql:2)',
    ]);
  });

  it('says what fails now, and what was not tried', () => {
    const broken = {
      database: 'app',
      name: 'orders',
      does: 'updates',
      error: 'no column; one',
    } as const;
    const tried = { broken: [broken], tooSlow: ['sums'], outside: ['dblink'] };
    const found = report({}, 0, tried);
    assert.equal(found.verdict, 'dangerous');
    assert.deepEqual(found.sentences, ['Breaks updates of orders: no column; one']);
    assert.match(
      textOf(found),
      /\n\nNot tried, because it takes too long: sums\nNo triggers and views were tried, .* database: dblink$/,
    );
  });
});
