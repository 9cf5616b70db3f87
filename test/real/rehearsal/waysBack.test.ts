/**
 * What rehearsals say about 50 ways back, half of which forget something, compared with what is true. The full run has all of them,
 * others some by the seed.
 */
import assert from 'node:assert/strict';
import { limitConcurrency } from '../../../src/base/limitConcurrency.ts';
import { isFullRun } from '../../helpers/fullRun.ts';
import { randomNumbers } from '../../helpers/randomNumbers.ts';
import { FORGETTING, RESTORING, type WayBackCase } from './cases/waysBack.ts';
import { migrate, startSeeded, withoutDurations, type Rehearsals } from './rehearsals.ts';

const AT_A_TIME = 4;
/** How many of each kind, unless it is the full run. */
const SOME = 5;

const random = randomNumbers();

function chosen(all: readonly WayBackCase[]): readonly WayBackCase[] {
  if (isFullRun) return all;
  const shuffled = all.map((each) => ({ each, at: random() })).toSorted((a, b) => a.at - b.at);
  return shuffled.slice(0, SOME).map(({ each }) => each);
}

describe('The report of a rehearsal about a way back', () => {
  let rehearsals: Rehearsals;
  const atATime = limitConcurrency(AT_A_TIME);

  before(async () => {
    rehearsals = await startSeeded();
  });

  const seenOn = async ({ title, up, down }: WayBackCase): Promise<WayBackCase> => {
    const report = await atATime(async () =>
      rehearsals.rehearse(async ({ url }) => migrate(url, up), {
        run: async ({ url }) => migrate(url, down),
      }),
    );
    const { left = [], added = [] } = report.wayBack ?? {};
    return {
      title,
      up,
      down,
      says: withoutDurations(report).filter((sentence) => sentence.startsWith('Way back: ')),
      left: [...left, ...added.map(({ table, count }) => `${count} rows of ${table}`)],
    };
  };

  const check = async (cases: readonly WayBackCase[]) =>
    assert.deepEqual(await Promise.all(cases.map(seenOn)), cases);

  it('says nothing if it restores all', async () => check(chosen(RESTORING)));

  it('names what it forgets, and what it leaves', async () => check(chosen(FORGETTING)));
});
