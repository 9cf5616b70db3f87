import assert from 'node:assert/strict';
import { BACK, runSteps, type Page, type Step } from '../../../../../src/ui/commands/input/multiStepInput.ts';

interface Known {
  readonly fruit?: string;
  readonly size?: string;
  readonly colour?: string;
}

/** Runs the flow with these answers, in the order the questions come. */
async function run(answers: readonly unknown[], start: Known = {}) {
  const asked: string[] = [];
  const left = [...answers];
  const step = (field: keyof Known, applies?: (known: Known) => boolean): Step<Known> => ({
    applies: (known) => known[field] === undefined && applies?.(known) !== false,
    ask: async (page: Page, known) => {
      asked.push(`${field} ${page.step}/${page.steps}${page.canGoBack ? ' back' : ''}`);
      const answer = left.shift();
      return typeof answer === 'string' ? { ...known, [field]: answer } : (answer as typeof BACK | undefined);
    },
  });
  const steps = [step('fruit'), step('size', ({ fruit }) => fruit !== 'grape'), step('colour')];
  return { known: await runSteps('Fruit', start, steps), asked };
}

describe('A flow of questions', () => {
  it('asks one after the other and counts them', async () => {
    const { known, asked } = await run(['apple', 'big', 'red']);
    assert.deepEqual(known, { fruit: 'apple', size: 'big', colour: 'red' });
    assert.deepEqual(asked, ['fruit 1/3', 'size 2/3 back', 'colour 3/3 back']);
  });

  it('leaves out what is known from the start', async () => {
    const { asked } = await run(['red'], { fruit: 'apple', size: 'big' });
    assert.deepEqual(asked, ['colour 1/1']);
  });

  it('leaves out what an answer makes needless, and counts on without it', async () => {
    const { known, asked } = await run(['grape', 'blue']);
    assert.deepEqual(known, { fruit: 'grape', colour: 'blue' });
    assert.deepEqual(asked, ['fruit 1/3', 'colour 2/2 back']);
  });

  it('goes back over what was left out to the question before, and forgets its answer', async () => {
    const { known, asked } = await run(['grape', BACK, 'apple', 'small', 'green']);
    assert.deepEqual(known, { fruit: 'apple', size: 'small', colour: 'green' });
    assert.deepEqual(asked.slice(0, 4), ['fruit 1/3', 'colour 2/2 back', 'fruit 1/3', 'size 2/3 back']);
  });

  it('ends without a result when a question is closed', async () => {
    const { known, asked } = await run(['apple', undefined]);
    assert.equal(known, undefined);
    assert.equal(asked.length, 2);
  });
});
