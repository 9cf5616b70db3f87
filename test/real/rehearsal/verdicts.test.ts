/**
 * What rehearsals say about migrations, compared with what is true about them on the seeded tables: dangerous ones by their reason,
 * and harmless ones not at all. The full run has all of them, others some by the seed. Timers: service/postgres/rehearsal/rehearsalObserver.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { limitConcurrency } from '../../../src/base/limitConcurrency.ts';
import { isFullRun } from '../../helpers/fullRun.ts';
import { randomNumbers } from '../../helpers/randomNumbers.ts';
import { DANGEROUS } from './cases/dangerous.ts';
import { HARMLESS } from './cases/harmless.ts';
import type { MigrationCase } from './cases/case.ts';
import { LONGEST_LOCK } from './seededTables.ts';
import { migrate, saferForms, startSeeded, withoutDurations, type Rehearsals } from './rehearsals.ts';

/** Most of them wait for a part of their time. */
const AT_A_TIME = 4;
/** How many of each kind, unless it is the full run. */
const SOME = 12;

/** What `scripts/rehearsedTools.ts` has written. */
const ofTools = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'cases/toolStatements.json'), 'utf8'),
) as readonly MigrationCase[];
const random = randomNumbers();
const cases = [...DANGEROUS, ...HARMLESS, ...ofTools];

function chosen(areDangerous: boolean): readonly MigrationCase[] {
  const all = cases.filter(({ says }) => (says !== undefined) === areDangerous);
  if (isFullRun) return all;
  const shuffled = all.map((each) => ({ each, at: random() })).toSorted((a, b) => a.at - b.at);
  return shuffled.slice(0, SOME).map(({ each }) => each);
}

describe('The verdict of a rehearsal', () => {
  let rehearsals: Rehearsals;
  const atATime = limitConcurrency(AT_A_TIME);

  before(async () => {
    rehearsals = await startSeeded();
  });

  const verdictOn = async ({ title, sql }: MigrationCase) => {
    const report = await atATime(async () =>
      rehearsals.rehearse(async ({ url }) => migrate(url, sql), undefined, LONGEST_LOCK),
    );
    const isSafe = report.verdict === 'safe';
    return { title, isSafe, says: withoutDurations(report), safer: saferForms(report) };
  };

  it('names each danger, and nothing else', async () => {
    const dangerous = chosen(true);
    const expected = dangerous.map(({ title, says = [], safer = [] }) => ({
      title,
      isSafe: false,
      says: says.toSorted(),
      safer,
    }));
    assert.deepEqual(await Promise.all(dangerous.map(verdictOn)), expected);
  });

  it('is safe for what harms no other and loses nothing', async () => {
    const found = await Promise.all(chosen(false).map(verdictOn));
    assert.deepEqual(
      found.filter(({ isSafe }) => !isSafe),
      [],
    );
  });
});
