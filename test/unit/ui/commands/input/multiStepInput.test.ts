import assert from 'node:assert/strict';
import {
  BACK,
  runSteps,
  type StepPosition,
  type Step,
} from '../../../../../src/ui/commands/input/multiStepInput.ts';

interface State {
  readonly fruit?: string;
  readonly size?: string;
  readonly color?: string;
}

/** Runs the steps with these answers, in the order of the questions. */
async function run(answers: readonly unknown[], start: State = {}, assumed: State = {}) {
  const asked: string[] = [];
  const left = [...answers];
  const step = (field: keyof State, applies?: (state: State) => boolean): Step<State> => ({
    applies: (state) => state[field] === undefined && applies?.(state) !== false,
    assume: (state) => (assumed[field] === undefined ? undefined : { ...state, [field]: assumed[field] }),
    ask: async (position: StepPosition, state) => {
      asked.push(`${field} ${position.step}/${position.totalSteps}${position.canGoBack ? ' back' : ''}`);
      const answer = left.shift();
      return typeof answer === 'string' ? { ...state, [field]: answer } : (answer as typeof BACK | undefined);
    },
  });
  const steps = [step('fruit'), step('size', ({ fruit }) => fruit !== 'grape'), step('color')];
  return { state: await runSteps('Fruit', start, steps), asked };
}

describe('runSteps', () => {
  it('asks the steps in order and counts them', async () => {
    const { state, asked } = await run(['apple', 'big', 'red']);
    assert.deepEqual(state, { fruit: 'apple', size: 'big', color: 'red' });
    assert.deepEqual(asked, ['fruit 1/3', 'size 2/3 back', 'color 3/3 back']);
  });

  it('skips steps that are already answered', async () => {
    const { asked } = await run(['red'], { fruit: 'apple', size: 'big' });
    assert.deepEqual(asked, ['color 1/1']);
  });

  it('skips a step that an earlier answer makes unnecessary', async () => {
    const { state, asked } = await run(['grape', 'blue']);
    assert.deepEqual(state, { fruit: 'grape', color: 'blue' });
    assert.deepEqual(asked, ['fruit 1/3', 'color 2/2 back']);
  });

  it('goes back to the previous asked step and discards its answer', async () => {
    const { state, asked } = await run(['grape', BACK, 'apple', 'small', 'green']);
    assert.deepEqual(state, { fruit: 'apple', size: 'small', color: 'green' });
    assert.deepEqual(asked.slice(0, 4), ['fruit 1/3', 'color 2/2 back', 'fruit 1/3', 'size 2/3 back']);
  });

  it('assumes an answer, until the user goes back to its question', async () => {
    const { state, asked } = await run(['small', BACK, BACK, 'pear', 'big', 'red'], {}, { fruit: 'apple' });
    assert.deepEqual(state, { fruit: 'pear', size: 'big', color: 'red' });
    const expected = ['size 2/3 back', 'color 3/3 back', 'size 2/3 back', 'fruit 1/3', 'size 2/3 back'];
    assert.deepEqual(asked.slice(0, 5), expected);
  });

  it('returns undefined when a question is closed', async () => {
    const { state, asked } = await run(['apple', undefined]);
    assert.equal(state, undefined);
    assert.equal(asked.length, 2);
  });
});
