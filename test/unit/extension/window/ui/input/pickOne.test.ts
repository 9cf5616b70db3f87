/** Which item of a list is active when items arrive. */
import { quickPicks } from '../../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { Choice } from '../../../../../../src/extension/window/ui/input/quickInput.ts';

const { pickOne } = await import('../../../../../../src/extension/window/ui/input/quickInput.ts');

describe('pickOne', () => {
  const position = { title: 'Fruit', step: 1, totalSteps: 1, canGoBack: false };
  const apple: Choice<string> = { label: 'apple', value: undefined };
  const pear: Choice<string> = { label: 'pear', value: 'pear' };
  const plum: Choice<string> = { label: 'plum', value: 'plum' };

  /** Types a text, and then the items arrive. */
  const ask = async (text: string, items: readonly Choice<string>[]) => {
    const arrival = Promise.withResolvers<readonly Choice<string>[]>();
    const answer = pickOne<string>({ placeholder: 'Which?', items: async () => arrival.promise })(position);
    const pick = quickPicks.at(-1);
    assert.ok(pick);
    pick.type(text);
    arrival.resolve(items);
    await arrival.promise;
    await new Promise(setImmediate);
    return { pick, answer };
  };

  for (const [what, text, items, active] of [
    ['the first that can be picked', '', [apple, pear, plum], 'pear'],
    ['the current one, even if it can’t be picked', '', [pear, { ...apple, isCurrent: true }], 'apple'],
    ['the first that matches a text', 'plum', [apple, pear, plum], 'plum'],
    ['the match of a text rather than the current one', 'plum', [{ ...pear, isCurrent: true }, plum], 'plum'],
  ] as const)
    it(`begins with ${what}`, async () => {
      const { pick, answer } = await ask(text, items);
      assert.equal(pick.active, active);
      pick.cancel();
      await answer;
    });
});
