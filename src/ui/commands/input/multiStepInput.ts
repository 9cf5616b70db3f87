/**
 * Questions in a row with a way back. What is known so far is one immutable value: each step turns it into the next,
 * steps whose answer is known already do not apply, and going back returns to the value before.
 */

/** What a question is answered with when the user wants the one before it again. */
export const BACK = Symbol('back');
export type Answer<T> = T | typeof BACK | undefined;

/** Where in a flow a question stands. A question on its own has `steps: 1`. */
export interface Page {
  readonly title: string;
  readonly step: number;
  readonly steps: number;
  readonly canGoBack: boolean;
}

export interface Step<Known> {
  /** Whether there is something to ask, given what is known; the default is yes. */
  readonly applies?: (known: Known) => boolean;
  readonly ask: (page: Page, known: Known) => Promise<Answer<Known>>;
}

/** @returns what is known in the end, or undefined when the user gave up */
export async function runFlow<Known>(
  title: string,
  start: Known,
  steps: readonly Step<Known>[],
): Promise<Known | undefined> {
  const asked: { readonly index: number; readonly known: Known }[] = [];
  let known = start;
  for (let index = 0; index < steps.length;) {
    const step = steps[index];
    if (step === undefined || step.applies?.(known) === false) {
      index += 1;
      continue;
    }
    const left = steps.slice(index).filter((other) => other.applies?.(known) !== false).length;
    const page = { title, step: asked.length + 1, steps: asked.length + left, canGoBack: asked.length > 0 };
    const answer = await step.ask(page, known);
    if (answer === undefined) return undefined;
    if (answer === BACK) {
      const before = asked.pop();
      if (before === undefined) return undefined;
      ({ index, known } = before);
    } else {
      asked.push({ index, known });
      known = answer;
      index += 1;
    }
  }
  return known;
}

/** Turns the answer to a question into what is known after it; backing out stays backing out. */
export function answered<T, Known>(answer: Answer<T>, use: (value: T) => Known): Answer<Known> {
  if (answer === undefined) return undefined;
  return answer === BACK ? BACK : use(answer);
}
