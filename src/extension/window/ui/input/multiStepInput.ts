/**
 * Several questions with a Back button, in ordinary code that awaits one after the other. When the user goes back, that code
 * runs again from the start and gets the earlier answers without asking. So it must not change anything, and which question comes
 * next must depend only on the answers and on values from before the first question.
 */

/** The user wants to return to the previous question. */
export const GO_BACK = Symbol('back');
export type Answer<T> = T | typeof GO_BACK | undefined;

/** The place of a question in a sequence of questions. */
export interface StepPosition {
  readonly title: string;
  readonly step: number;
  readonly totalSteps: number;
  readonly canGoBack: boolean;
}

/** Asks when it is called. Until then, nothing is loaded for it. */
export type Question<T> = (position: StepPosition) => Promise<Answer<T>>;

/** How many questions are still to be asked. */
export interface StepsLeft {
  /** The number of questions that follow, as far as it is known; by default 0. */
  readonly following?: number;
}

interface StepOptions<T> extends StepsLeft {
  /** An answer that is used instead of asking, until the user goes back to this question. */
  readonly assumed?: T | undefined;
}

/** Asks the next question. Rejects if the user goes back or cancels, which `askInSteps` handles. */
export type Ask = <T>(question: Question<T>, options?: StepOptions<T>) => Promise<T>;

/** Thrown to end a run of the steps. */
const INTERRUPTED = new Error('The user went back or canceled');

/** @param steps see the top of this file. @returns its result, or undefined if the user canceled */
export async function askInSteps<T>(title: string, steps: (ask: Ask) => Promise<T>): Promise<T | undefined> {
  const answers: { readonly value: unknown; readonly isAssumed: boolean }[] = [];
  let isBack = false;
  for (;;) {
    let step = 0;
    const ask: Ask = async <A>(question: Question<A>, options: StepOptions<A> = {}) => {
      step += 1;
      // This question was answered in the previous run.
      if (step <= answers.length) return answers[step - 1]?.value as A;
      const { following = 0, assumed } = options;
      const isAssumed = assumed !== undefined && !isBack;
      // The user has not seen the questions whose answers are assumed.
      const shownStep = step - answers.filter((earlier) => earlier.isAssumed).length;
      const position = { title, step: shownStep, totalSteps: shownStep + following, canGoBack: step > 1 };
      const answer = isAssumed ? assumed : await question(position);
      isBack = answer === GO_BACK;
      if (answer === undefined || answer === GO_BACK) throw INTERRUPTED;
      answers.push({ value: answer, isAssumed });
      return answer;
    };
    try {
      return await steps(ask);
    } catch (error) {
      if (error !== INTERRUPTED) throw error;
      if (!isBack || answers.pop() === undefined) return undefined;
    }
  }
}

/** Asks a single question. @returns undefined if the user canceled */
export const singleStep = <T>(title: string, question: Question<T>): Promise<T | undefined> =>
  askInSteps(title, (ask) => ask(question));
