import assert from 'node:assert/strict';
import { withVariables } from '../../../helpers/withVariables.ts';
import { parseMoment } from '../../../../src/extension/history/parseMoment.ts';

/** Local time, as all that is entered without a zone. */
const at = (text: string) => new Date(`2026-11-26T${text}`).getTime();
const now = at('14:32:10');
const read = (text: string, earliest?: number) => parseMoment(text, { now, earliest });
const timeOf = (text: string) => {
  const moment = read(text);
  return moment !== undefined && 'timestamp' in moment ? Date.parse(moment.timestamp ?? '') : moment;
};

describe('parseMoment', () => {
  const MINUTE = 60_000;
  const times: readonly (readonly [text: string, time: number])[] = [
    ['20 min ago', now - 20 * MINUTE],
    ['20 min', now - 20 * MINUTE],
    ['90s', now - 90_000],
    ['2 hours ago', now - 120 * MINUTE],
    ['1 h 30 min ago', now - 90 * MINUTE],
    ['1 hour, 5 minutes ago', now - 65 * MINUTE],
    ['1d2h', now - 26 * 60 * MINUTE],
    ['vor 20 Minuten', now - 20 * MINUTE],
    ['vor 2 Std.', now - 120 * MINUTE],
    ['vor 2 Min.', now - 2 * MINUTE],
    ['5 min.', now - 5 * MINUTE],
    ['1 Stunde und 30 Minuten', now - 90 * MINUTE],
    ['2 hours and 5 minutes ago', now - 125 * MINUTE],
    ['1 h 30', now - 90 * MINUTE],
    ['vor 3 Tagen', now - 3 * 24 * 60 * MINUTE],
    ['45', now - 45 * MINUTE],
    ['14:32', at('14:32:00')],
    ['14.32', at('14:32:00')],
    ['heute um 9.05', at('09:05:00')],
    [' 9:05 ', at('09:05:00')],
    ['14:31:59', at('14:31:59')],
    ['today 14:00', at('14:00:00')],
    ['heute um 14:00', at('14:00:00')],
    ['2:30 pm', at('14:30:00')],
    ['12:05:30AM', at('00:05:30')],
    ['yesterday 12:05 p.m.', new Date('2026-11-25T12:05').getTime()],
    ['14:33', new Date('2026-11-25T14:33').getTime()],
    ['yesterday 9:05', new Date('2026-11-25T09:05').getTime()],
    ['Gestern, 9:05', new Date('2026-11-25T09:05').getTime()],
    ['2026-11-25 14:32', new Date('2026-11-25T14:32').getTime()],
    ['25.11.2026 14:32', new Date('2026-11-25T14:32').getTime()],
    ['1.2.2026, 14:32:05', new Date('2026-02-01T14:32:05').getTime()],
    ['2026-11-25 2:32 pm', new Date('2026-11-25T14:32').getTime()],
    ['2026-11-25T14:32:10.250', new Date('2026-11-25T14:32:10.250').getTime()],
    ['2026-11-25T14:32:10Z', Date.UTC(2026, 10, 25, 14, 32, 10)],
    ['2026-11-25 14:32+02', Date.UTC(2026, 10, 25, 12, 32)],
    ['2026-11-25 14:32:00 +0530', Date.UTC(2026, 10, 25, 9, 2)],
  ];
  for (const [text, time] of times)
    it(`reads ${JSON.stringify(text)}`, () => assert.equal(timeOf(text), time));

  it('reads an LSN', () => {
    for (const text of ['0/1a2b3c8', '0/2026', '11/00002026', '1/12345', 'a/26'])
      assert.deepEqual(read(text), { lsn: text.toUpperCase() });
  });

  it('rejects what may be a date or an LSN, with a spelling that only an LSN has', () => {
    for (const [text, lsn] of [
      ['11/2026', '11/00002026'],
      ['2026/11', '2026/00000011'],
      ['11/26', '11/00000026'],
      ['24/12', '24/00000012'],
    ] as const)
      assert.deepEqual(read(text), { problem: 'ambiguous', lsn });
  });

  it('returns undefined for other text', () => {
    for (const text of ['', 'soon', '5 parsecs', '25:00', '14:60', '2026-02-30 10:00', '-5 min', '1/2/3'])
      assert.equal(read(text), undefined, text);
    for (const text of ['5 5', '1.5', '5 min 5', '30.2.2026 10:00', '14:30 pm', '0:30 am', 'und 5 min'])
      assert.equal(read(text), undefined, text);
  });

  it('rejects a local time that was skipped when the clocks went forward, on this day only', async () => {
    await withVariables({ TZ: 'Europe/Berlin' }, () => {
      const next = Date.UTC(2026, 2, 30, 8);
      const time = (text: string, at = next) => parseMoment(text, { now: at, earliest: undefined });
      for (const text of ['2026-03-29 02:30', '29.03.2026 02:30:10', 'yesterday 2:30'])
        assert.deepEqual(time(text), { problem: 'skipped' }, text);
      assert.equal(time('2026-03-29 02:60'), undefined);
      assert.deepEqual(time('2026-03-29 03:30'), { timestamp: '2026-03-29T01:30:00.000Z' });
      assert.deepEqual(time('yesterday 2:30', Date.UTC(2026, 2, 29, 8)), {
        timestamp: '2026-03-28T01:30:00.000Z',
      });
    });
  });

  it('says what is in the future, or earlier than the history', () => {
    assert.deepEqual(read('2026-11-26 14:32:11'), { problem: 'future' });
    assert.deepEqual(read('today 15:00'), { problem: 'future' });
    assert.deepEqual(read('21 min', now - 20 * MINUTE), { problem: 'tooOld' });
    assert.ok('timestamp' in (read('20 min', now - 20 * MINUTE) ?? {}));
  });
});
