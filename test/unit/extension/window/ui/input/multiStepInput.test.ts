import assert from 'node:assert/strict';
import {
  askInSteps,
  GO_BACK,
  type Answer,
  type StepPosition,
} from '../../../../../../src/extension/window/ui/input/multiStepInput.ts';

interface Known {
  readonly fruit?: string;
  readonly size?: string;
}

/** Asks for a fruit, a size and a color with these answers, in the order of the questions. A grape has no size. */
async function run(answers: readonly Answer<string>[], given: Known = {}, assumed: Known = {}) {
  const asked: string[] = [];
  const left = [...answers];
  const question = (field: string) => async (position: StepPosition) => {
    asked.push(`${field} ${position.step}/${position.totalSteps}${position.canGoBack ? ' back' : ''}`);
    return left.shift();
  };
  const state = await askInSteps('Fruit', async (ask) => {
    const fruit = given.fruit ?? (await ask(question('fruit'), { following: 2, assumed: assumed.fruit }));
    const size =
      given.size ?? (fruit === 'grape' ? undefined : await ask(question('size'), { following: 1 }));
    return [fruit, size, await ask(question('color'))];
  });
  return { state, asked };
}

describe('askInSteps', () => {
  it('asks in order and counts the questions', async () => {
    const { state, asked } = await run(['apple', 'big', 'red']);
    assert.deepEqual(state, ['apple', 'big', 'red']);
    assert.deepEqual(asked, ['fruit 1/3', 'size 2/3 back', 'color 3/3 back']);
  });

  it('counts only what is asked', async () => {
    const { asked } = await run(['red'], { fruit: 'apple', size: 'big' });
    assert.deepEqual(asked, ['color 1/1']);
  });

  it('goes back to the previous question and discards its answer', async () => {
    const { state, asked } = await run(['grape', GO_BACK, 'apple', 'small', 'green']);
    assert.deepEqual(state, ['apple', 'small', 'green']);
    assert.deepEqual(asked.slice(0, 4), ['fruit 1/3', 'color 2/2 back', 'fruit 1/3', 'size 2/3 back']);
  });

  it('assumes an answer, until the user goes back to its question', async () => {
    const { state, asked } = await run(
      ['small', GO_BACK, GO_BACK, 'pear', 'big', 'red'],
      {},
      { fruit: 'apple' },
    );
    assert.deepEqual(state, ['pear', 'big', 'red']);
    const expected = ['size 1/2 back', 'color 2/2 back', 'size 1/2 back', 'fruit 1/3', 'size 2/3 back'];
    assert.deepEqual(asked.slice(0, 5), expected);
  });

  it('returns undefined when a question is closed', async () => {
    const { state, asked } = await run(['apple', undefined]);
    assert.equal(state, undefined);
    assert.equal(asked.length, 2);
  });

  it('passes on errors', async () => {
    const failure = new Error('offline');
    await assert.rejects(
      askInSteps('Fruit', (ask) => ask(() => Promise.reject(failure))),
      failure,
    );
  });
});
