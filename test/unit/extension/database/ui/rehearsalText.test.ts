import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { Rehearsal, RehearsedStatement } from '../../../../../src/api/records/rehearsal.ts';
import type { DataLoss } from '../../../../../src/rehearsal/losses.ts';
import { createReport } from '../../../../../src/rehearsal/report.ts';
import type { TrialReport } from '../../../../../src/rehearsal/trials.ts';

const { rehearsalText, verdictSentences } =
  await import('../../../../../src/extension/database/ui/rehearsalText.ts');

const statement: RehearsedStatement = {
  session: 1,
  transaction: 1,
  text: 'alter table orders\n  drop column "a|b"',
  from: 0,
  milliseconds: 12.4,
  tags: ['ALTER TABLE'],
};
const table = { database: 'app', id: 1, name: 'public.orders', kind: 'r', file: 1, bytes: 8192, columns: {} };
const lock = { database: 'app', id: 1, table: 'public.orders', mode: 'AccessExclusiveLock' } as const;
const place = { name: '1.sql', branch: 'main', time: new Date(0), output: '' };

const NOTHING: TrialReport = { broken: [], tooSlow: [], outside: [] };

const report = (more: Partial<Rehearsal> = {}, losses: DataLoss[] = [], exitCode = 0, tried = NOTHING) => {
  const rehearsal = { statements: [statement], locks: [], before: [table], after: [table], ...more };
  return createReport({ rehearsal, losses, tried, exitCode }, { longestLock: 1000 });
};
const LOSS: DataLoss = {
  database: 'app',
  tables: [1],
  name: 'public.orders.x',
  kind: 'values',
  fate: 'gone',
  count: 2,
};

describe('The document about a rehearsal', () => {
  it('begins with the verdict, and has a row for each statement', () => {
    const lines = rehearsalText(report(), place).split('\n');
    assert.equal(lines[0], '# Safe\\: 1 statement, 12 ms, no lock that others would notice\\.');
    assert.ok(
      lines.includes('| alter table orders drop column "a\\|b" | 12 ms |  | ALTER TABLE |'),
      lines.join('\n'),
    );
  });

  it('says who waits for how long, and which tables were written again', () => {
    const locks = [{ ...lock, from: 0, to: 4100, statement: 0 }];
    const written = { ...table, file: 2, bytes: 212e6 };
    const text = rehearsalText(report({ locks, after: [written] }), place);
    assert.match(text, /^# Blocks all reads and writes of public\\\.orders for 4\\\.1 sec\\\.$/m);
    assert.match(text, /reads and writes of public\\\.orders\\: up to 4\\\.1 sec/);
    assert.match(text, /^- public\\\.orders \\\(212 MB\\\)$/m);
  });

  it('has a picture of the locks with words for screen readers, in which names are no HTML', () => {
    const named = { ...lock, table: 'public."</code>"', from: 0, to: 4100, statement: 0 };
    const text = rehearsalText(report({ locks: [named] }), place);
    assert.match(
      text,
      /^## Locks over time\n\n<div role="img" aria-label="Locks within 4.1 sec: reads and writes of public.&quot;&lt;\/code>&quot;: up to 4.1 sec, after 1 ms" style="[^"]*">█{48} {2}public.&quot;&lt;\/code>&quot;\n0 {40}4.1 sec\n█ reads and writes wait<\/div>$/m,
    );
    assert.doesNotMatch(rehearsalText(report(), place), /<|Locks over time/);
  });

  it('has a safer form only for what was dangerous', () => {
    const built = {
      ...statement,
      text: 'create index on orders (id)',
      milliseconds: 4000,
      tags: ['CREATE INDEX'],
    };
    const seen = (to: number) =>
      report({
        statements: [built, statement],
        locks: [{ ...lock, mode: 'ShareLock', from: 0, to, statement: 0 }],
      });
    assert.match(
      rehearsalText(seen(4000), place),
      /^\| create index .* \| CREATE INDEX \| Use CREATE INDEX CONCURRENTLY outside of a transaction\\: others can write\\\. \|$/m,
    );
    assert.match(
      rehearsalText(seen(4000), place),
      /^\| Statement \| Time \| Who waits \| Result \| Safer form \|$/m,
    );
    assert.doesNotMatch(rehearsalText(seen(20), place), /Safer form|CONCURRENTLY/);
  });

  it('has the end of the output if the command fails, which is neither Markdown nor cut into paragraphs', () => {
    const output = 'first\n# second\n\n    third';
    const text = rehearsalText(report({ problem: 'Commits were not held.' }, [], 7), { ...place, output });
    assert.match(
      text,
      /^# Fails\\: the command ended with code 7\\\.\n\n- Incomplete\\: Commits were not held\\\.$/m,
    );
    assert.match(text, /\n\n {4}first\n {4}# second\n {4}\n {8}third\n\n/);
  });

  it('says after any verdict which variables the command got with other values', () => {
    const assumed = { names: ['MAIL_HOST', 'MAIL_PASSWORD'], services: 'MAIL_' };
    assert.match(
      rehearsalText(report(), { ...place, assumed }),
      /^These variables .*\\: MAIL\\_HOST, MAIL\\_PASSWORD\\\. .*HOSTED\\_POSTGRES\\_OTHER\\_SERVICES=MAIL\\_ /m,
    );
  });

  it('says what was not tried', () => {
    const text = rehearsalText(
      report({}, [], 0, { broken: [], tooSlow: ['sums'], outside: ['dblink'] }),
      place,
    );
    assert.match(text, /^Whether sums still works isn't known, as it takes too long\\\.$/m);
    assert.match(
      text,
      /^Triggers and views weren't tried, because they may reach outside of the database with dblink\\\.$/m,
    );
  });

  it('has the way back with what it forgets and leaves, or how long Undo is one', () => {
    const rehearsal = { statements: [statement], locks: [], before: [table], after: [table] };
    const schema = { forgotten: ['CREATE INDEX a', 'CREATE INDEX b'], left: ['CREATE TABLE own ('] };
    const wayBack = { rehearsal, losses: [LOSS], exitCode: 0, schema };
    const run = { rehearsal, losses: [], tried: NOTHING, exitCode: 0 };
    const found = createReport({ ...run, wayBack }, { longestLock: 1000 });
    assert.deepEqual(verdictSentences(found), [
      'Way back: Loses 2 values of public.orders.x.',
      "Way back: Doesn't restore this part of the schema: CREATE INDEX a CREATE INDEX b",
    ]);
    const text = rehearsalText(found, place);
    assert.match(text, /^## Way back\n\n\| Statement/m);
    assert.match(text, /^This remains in the schema afterwards:\n\n {4}CREATE TABLE own \($/m);
    const lost = createReport({ ...run, losses: [LOSS] }, { longestLock: 1000, historySeconds: 86_400 });
    assert.match(
      rehearsalText(lost, place),
      /^# Loses 2 values of public\\\.orders\\\.x\\\.\n\nThe only known way back is Undo, within 24 hr\\\.$/m,
    );
    const none = createReport({ ...run, losses: [LOSS] }, { longestLock: 1000, historySeconds: 0 });
    assert.match(rehearsalText(none, place), /^There is no known way back\\\.$/m);
  });
});
