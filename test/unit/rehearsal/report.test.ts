import assert from 'node:assert/strict';
import type { Rehearsal, RehearsedStatement } from '../../../src/api/records/rehearsal.ts';
import type { DataLoss } from '../../../src/rehearsal/losses.ts';
import { createReport, type RehearsalReport } from '../../../src/rehearsal/report.ts';
import { ENGLISH_TEXTS, plainReportText } from '../../../src/rehearsal/text/terminalReport.ts';
import type { TrialReport } from '../../../src/rehearsal/trials.ts';

const statement: RehearsedStatement = {
  session: 1,
  transaction: 1,
  text: 'alter table orders\n  add column note text',
  from: 0,
  milliseconds: 12.4,
  tags: ['ALTER TABLE'],
};
const rehearsal: Rehearsal = { statements: [statement], locks: [], before: [], after: [] };

const NOTHING: TrialReport = { broken: [], tooSlow: [], outside: [] };

const report = (
  more: Partial<Rehearsal> = {},
  exitCode = 0,
  tried: TrialReport = NOTHING,
  losses: readonly DataLoss[] = [],
) => createReport({ rehearsal: { ...rehearsal, ...more }, losses, tried, exitCode }, { longestLock: 1000 });

const sentencesOf = (seen: RehearsalReport): readonly string[] => ENGLISH_TEXTS.verdictSentences(seen);

describe('The report of a rehearsal', () => {
  it('begins with the verdict', () => {
    const safe = report();
    assert.equal(safe.verdict, 'safe');
    assert.equal(
      plainReportText(safe),
      'Safe: 1 statement, 12 ms, no lock that others would notice.\n\n     12 ms  alter table orders add column note text\n            ALTER TABLE',
    );
  });

  it('names a refused statement although the command ends with 0, and fails if it is in a file', () => {
    const error = { code: '42P01', message: 'relation "b" does not exist' };
    const refused: RehearsedStatement = { ...statement, text: 'alter table b add c int', tags: [], error };
    const unplaced = report({ statements: [refused, { ...statement, from: 20 }] });
    assert.equal(unplaced.verdict, 'safe');
    assert.deepEqual(sentencesOf(unplaced), [
      'Safe: 2 statements, 25 ms, no lock that others would notice.',
      'Postgres refused “alter table b add c int”, and the command continued: relation "b" does not exist',
    ]);
    const placed: RehearsedStatement = { ...refused, place: { file: '1.sql', line: 3 } };
    const failed = report({ statements: [placed, { ...statement, from: 20 }] });
    assert.equal(failed.verdict, 'failed');
    assert.deepEqual(sentencesOf(failed), [
      'Fails at “alter table b add c int”: relation "b" does not exist (1.sql:3)',
    ]);
    // It was tried again.
    const { error: _, ...succeeded } = { ...placed, from: 20, tags: ['ALTER TABLE'] };
    assert.equal(report({ statements: [placed, succeeded] }).verdict, 'safe');
  });

  it('calls nothing safe that was not seen to the end', () => {
    const unseen = report({ problem: 'Commits were not held.' });
    assert.equal(unseen.verdict, 'failed');
    assert.deepEqual(sentencesOf(unseen), ['Incomplete: Commits were not held.']);
  });

  it('calls a command failed that has sent nothing to the copy, unless its own failure says why', () => {
    const unused = report({ statements: [] });
    assert.equal(unused.verdict, 'failed');
    assert.deepEqual(sentencesOf(unused), [
      'Nothing was rehearsed: no statement reached the copy. The command must connect to DATABASE_URL.',
    ]);
    assert.deepEqual(sentencesOf(report({ statements: [] }, 7)), ['Fails: the command ended with code 7.']);
  });

  it('calls what is never committed failed, once for each transaction', () => {
    const sent = { ...statement, isUncommitted: true } as const;
    const statements = [{ ...sent, text: 'begin' }, sent, { ...sent, transaction: 9, text: 'drop table b' }];
    const open = report({ statements });
    assert.equal(open.verdict, 'failed');
    assert.deepEqual(
      sentencesOf(open),
      ['alter table orders add column note text', 'drop table b'].map(
        (text) =>
          `Isn't committed: a connection ends after “${text}” without COMMIT, so its transaction is rolled back.`,
      ),
    );
    assert.deepEqual(sentencesOf(report({ statements }, 7)), ['Fails: the command ended with code 7.']);
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
    const waiting = (rows: number) =>
      report({ before: [table], after: [table], locks: [{ ...lock, statement: 0, rows }] });
    assert.deepEqual(sentencesOf(waiting(1)), ['Blocks writes of 1 row of orders for 2 sec.']);
    const long = waiting(1204);
    assert.equal(long.verdict, 'dangerous');
    assert.deepEqual(sentencesOf(long), ['Blocks writes of 1,204 rows of orders for 2 sec.']);
    assert.match(plainReportText(long), / {12}writes of the same rows of orders: up to 2 sec$/m);
  });

  it('names the statement that failed, or else the code of the command', () => {
    const error = { code: '23505', message: 'duplicate key', detail: 'Key (id)=(1) exists.' };
    const failed = report({ statements: [{ ...statement, error }] }, 1);
    assert.deepEqual(sentencesOf(failed), [
      'Fails at “alter table orders add column note text”: duplicate key. Key (id)=(1) exists.',
    ]);
    assert.deepEqual(sentencesOf(report({}, 7)), ['Fails: the command ended with code 7.']);
  });

  it('does not say that a command failed at an error after which it has gone on', () => {
    const error = { code: '42P01', message: 'no such table' };
    const asks = { ...statement, text: 'select from notes', tags: [], error };
    const after = (...tags: string[]) =>
      sentencesOf(report({ statements: [asks, { ...statement, tags }] }, 7)).join();
    assert.equal(
      after('CREATE TABLE'),
      'Fails: the command ended with code 7. The last error of Postgres was at “select from notes”: no such table',
    );
    assert.equal(after('ROLLBACK'), 'Fails at “select from notes”: no such table');
    const skipped = { ...asks, text: 'select 1', error: { code: '25P02', message: 'aborted' } };
    assert.deepEqual(sentencesOf(report({ statements: [asks, skipped] }, 7)), [
      'Fails at “select from notes”: no such table',
    ]);
    const placed = { ...asks, place: { file: '1.sql', line: 2 } };
    assert.deepEqual(sentencesOf(report({ statements: [placed, statement] }, 7)), [
      'Fails at “select from notes”: no such table (1.sql:2)',
    ]);
  });

  it('names the statements of which one is the cause, or only their file if there are too many', () => {
    const sentenceFor = (count: number, file: (line: number) => string) => {
      const statements = Array.from({ length: count }, (_, index) => ({
        ...statement,
        tags: ['UPDATE 1'],
        place: { file: file(index + 1), line: index + 1 },
      }));
      const mode = 'RowExclusiveLock' as const;
      const locks = [{ database: 'app', id: 1, table: 'a', mode, from: 0, to: 1, statement: 0 }];
      const lost: DataLoss = {
        database: 'app',
        tables: [1],
        name: 'a.x',
        column: 'x',
        kind: 'values',
        fate: 'kept',
        count: 1,
      };
      return sentencesOf(report({ statements, locks }, 0, NOTHING, [lost]));
    };
    const loses = 'Loses 1 value of a.x.';
    assert.deepEqual(
      sentenceFor(1, () => '1.sql'),
      [`${loses} (1.sql:1)`],
    );
    assert.deepEqual(
      sentenceFor(2, (line) => `${line}.sql`),
      [`${loses} (one or more of 1.sql:1, 2.sql:2)`],
    );
    assert.deepEqual(
      sentenceFor(4, () => '1.sql'),
      [`${loses} (1.sql)`],
    );
    assert.deepEqual(
      sentenceFor(4, (line) => `${line}.sql`),
      [loses],
    );
  });

  it('names a safer form also for a table that was renamed before', () => {
    const table = { database: 'app', id: 1, name: 'public.people', kind: 'r', bytes: 1 };
    const columns = { 1: { name: 'id', type: 'integer' } };
    const before = [{ ...table, name: 'public.users', file: 1, columns }];
    const after = [{ ...table, file: 2, columns: { ...columns, 2: { name: 'at', type: 'time' } } }];
    const texts = ['alter table users rename to people', "alter table people add at time default 'now'"];
    const statements = texts.map((text, index) => ({
      ...statement,
      text,
      transaction: index + 1,
      milliseconds: 2000 * index,
    }));
    const mode = 'AccessExclusiveLock' as const;
    const lock = { database: 'app', id: 1, mode };
    const locks = [
      { ...lock, table: 'public.users', from: 0, to: 1, statement: 0 },
      { ...lock, table: 'public.people', from: 2, to: 2002, statement: 1 },
    ];
    assert.deepEqual(report({ before, after, statements, locks }).safer, [
      { statement: 1, table: 'public.people', form: 'filledColumn' },
    ]);
  });

  it('has a sentence for each loss', () => {
    const loss = (kind: DataLoss['kind'], count: number): DataLoss => ({
      database: 'app',
      tables: [1],
      name: `orders${kind === 'rows' ? '' : '.total'}`,
      kind,
      fate: 'kept',
      count,
      ...(kind === 'type' && { types: 'text → int' }),
    });
    const losses = [loss('values', 1204), loss('rows', 1), loss('rows', 2)];
    assert.deepEqual(sentencesOf(report({}, 0, NOTHING, losses)), [
      'Loses 1,204 values of orders.total.',
      'Loses 1 row of orders.',
      'Loses 2 rows of orders.',
    ]);
    assert.deepEqual(sentencesOf(report({}, 0, NOTHING, [loss('type', 1)])), [
      'Changes values of orders.total: text → int.',
    ]);
    assert.deepEqual(sentencesOf(report({}, 0, NOTHING, [loss('values', 1)])), [
      'Loses 1 value of orders.total.',
    ]);
  });

  it('says what fails now, and what was not tried', () => {
    const kinds = ['reads', 'refreshes', 'updates', 'deletes or inserts'] as const;
    const broken = kinds.map((does) => ({ database: 'app', name: 'orders', does, error: 'no column; one' }));
    const found = report({}, 0, { broken, tooSlow: ['sums'], outside: ['dblink'] });
    assert.equal(found.verdict, 'dangerous');
    assert.deepEqual(
      sentencesOf(found),
      kinds.map((does) => `Breaks ${does} of orders: no column; one`),
    );
    assert.match(
      plainReportText(found),
      /\n\nWhether sums still works isn't known, as it takes too long\.\nTriggers and views weren't tried, .* with dblink\.$/,
    );
  });
});
