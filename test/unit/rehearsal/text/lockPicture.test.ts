import assert from 'node:assert/strict';
import type {
  HeldLock,
  LockMode,
  Rehearsal,
  RehearsedStatement,
} from '../../../../src/api/records/rehearsal.ts';
import { ENGLISH } from '../../../../src/base/translator.ts';
import { createReport } from '../../../../src/rehearsal/report.ts';
import { lockPicture } from '../../../../src/rehearsal/text/lockPicture.ts';
import { ENGLISH_TEXTS, plainReportText } from '../../../../src/rehearsal/text/terminalReport.ts';

const NAMES = ['public.orders', 'public.users'];
const statement: RehearsedStatement = {
  session: 1,
  transaction: 1,
  text: 'begin',
  from: 1000,
  milliseconds: 1,
  tags: ['BEGIN'],
};
const held = (
  id: number,
  mode: LockMode,
  from: number,
  to: number,
  more: Partial<HeldLock> = {},
): HeldLock => ({
  database: 'app',
  id,
  table: NAMES[id - 1] ?? `public.t${id}`,
  mode,
  from,
  to,
  statement: 0,
  ...more,
});

const report = (...locks: readonly HeldLock[]) => {
  const ids = [...new Set(locks.map(({ id }) => id))];
  const before = ids.map((id) => ({
    database: 'app',
    id,
    name: `t${id}`,
    kind: 'r',
    file: 1,
    bytes: 0,
    columns: {},
  }));
  const rehearsal: Rehearsal = { statements: [statement], locks, before, after: before };
  const tried = { broken: [], tooSlow: [], outside: [] };
  return createReport({ rehearsal, losses: [], tried, exitCode: 0 }, { longestLock: 1000 });
};
const draw = (...locks: readonly HeldLock[]) => lockPicture(report(...locks), ENGLISH_TEXTS, ENGLISH);

describe('The picture of locks', () => {
  it('has a bar for each table, from the first statement to the last release, and its meaning', () => {
    const picture = draw(
      held(1, 'ShareLock', 1000, 1480),
      held(1, 'AccessExclusiveLock', 1240, 1480),
      held(2, 'AccessExclusiveLock', 1470, 1471),
      held(2, 'RowExclusiveLock', 1000, 1100, { rows: 7 }),
    );
    assert.deepEqual(picture?.lines, [
      `${'▒'.repeat(24)}${'█'.repeat(24)}  public.orders`,
      `${'░'.repeat(10)}${'·'.repeat(37)}█  public.users`,
      `0${'480 ms'.padStart(47)}`,
      '█ reads and writes wait',
      '▒ writes wait',
      '░ writes of the same rows wait',
    ]);
  });

  it('has a text for screen readers that says the same', () => {
    const picture = draw(
      held(1, 'AccessExclusiveLock', 1240, 1480),
      held(2, 'ShareUpdateExclusiveLock', 1000, 1003),
    );
    assert.equal(
      picture?.alternative,
      'Locks within 480 ms: reads and writes of public.orders: up to 240 ms, after 240 ms; ' +
        'changes of the definition of public.users: up to 3 ms, after 1 ms',
    );
  });

  it('has what was locked again, and the tables that were locked the longest', () => {
    const [line] = draw(held(1, 'ShareLock', 1000, 1010), held(1, 'ShareLock', 1470, 1480))?.lines ?? [];
    assert.equal(line, `▒${'·'.repeat(46)}▒  public.orders`);
    const many = Array.from({ length: 14 }, (_, index) => held(index + 1, 'ShareLock', 1000 + index, 1014));
    const { lines = [] } = draw(...many) ?? {};
    assert.equal(lines.filter((each) => each.includes('public.')).length, 12);
    assert.equal(lines[12]?.trim(), '2 more');
    assert.ok(!lines.join().includes('public.t14'));
  });

  it('is in the text for terminals, unless others would wait for nothing', () => {
    const text = plainReportText(report(held(1, 'ShareLock', 1000, 1480)));
    assert.match(text, /\n\n {2}▒{48} {2}public\.orders\n {2}0 {41}480 ms\n {2}▒ writes wait$/);
    assert.equal(draw(held(1, 'RowExclusiveLock', 1000, 1480)), undefined);
  });
});
