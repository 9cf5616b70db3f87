/**
 * Several questions with a Back button. The state is immutable: each step returns the next one, and going back restores the
 * previous one. Steps that don't apply are skipped.
 */

/** The user wants to return to the previous question. */
export const BACK = Symbol('back');
export type Answer<T> = T | typeof BACK | undefined;

/** Where a question is in a sequence of questions. */
export interface StepPosition {
  readonly title: string;
  readonly step: number;
  readonly totalSteps: number;
  readonly canGoBack: boolean;
}

export interface Step<State> {
  /** Whether to ask; true by default. */
  readonly applies?: (state: State) => boolean;
  /** An answer that is used instead of asking, until the user goes back to this step. */
  readonly assume?: (state: State) => State | undefined;
  readonly ask: (position: StepPosition, state: State) => Promise<Answer<State>>;
}

/** Asks for one value of the state; by default only if it isn't set yet. */
export const valueStep = <State extends object, Key extends keyof State>(
  key: Key,
  ask: (position: StepPosition, state: State) => Promise<Answer<State[Key]>>,
  applies = (state: State): boolean => state[key] === undefined,
): Step<State> => ({
  applies,
  ask: async (position, state) =>
    mapAnswer(await ask(position, state), (value) => ({ ...state, [key]: value })),
});

/** @returns the last state, or undefined if the user canceled */
export async function runSteps<State>(
  title: string,
  start: State,
  steps: readonly Step<State>[],
): Promise<State | undefined> {
  const previous: { readonly index: number; readonly state: State }[] = [];
  let state = start;
  let isBack = false;
  for (let index = 0; index < steps.length;) {
    const step = steps[index];
    if (step === undefined || step.applies?.(state) === false) {
      index += 1;
      continue;
    }
    const left = steps.slice(index).filter((other) => other.applies?.(state) !== false).length;
    const asked = previous.length;
    const position = { title, step: asked + 1, totalSteps: asked + left, canGoBack: asked > 0 };
    const assumed: State | undefined = isBack ? undefined : step.assume?.(state);
    const answer: Answer<State> = assumed ?? (await step.ask(position, state));
    if (answer === undefined) return undefined;
    isBack = answer === BACK;
    if (answer === BACK) {
      const last = previous.pop();
      if (last === undefined) return undefined;
      ({ index, state } = last);
    } else {
      previous.push({ index, state });
      state = answer;
      index += 1;
    }
  }
  return state;
}

/** Asks a single question. @returns undefined if the user canceled */
export async function singleStep<T>(
  title: string,
  ask: (position: StepPosition) => Promise<Answer<T>>,
): Promise<T | undefined> {
  const answer = await ask({ title, step: 1, totalSteps: 1, canGoBack: false });
  return answer === BACK ? undefined : answer;
}

/** Maps the value of an answer. BACK and undefined stay. */
export function mapAnswer<T, Result>(answer: Answer<T>, map: (value: T) => Result): Answer<Result> {
  if (answer === undefined) return undefined;
  return answer === BACK ? BACK : map(answer);
}
