/** Mocha's hooks for all suites: the test that provoked a reply or sent a request against the contract fails. */
import type { Context, RootHookObject } from 'mocha';
import { addScopes, createScope } from '../helpers/atEndOfTest.ts';
import { startRecording, takeExchanges } from './recordings.ts';

startRecording();

async function check(): Promise<void> {
  const exchanges = takeExchanges();
  if (exchanges.length === 0) return;
  // Loaded late: parsing the document takes longer than most suites need it for.
  const { violationsIn } = await import('./check.ts');
  const violations = new Set(exchanges.flatMap(violationsIn));
  if (violations.size > 0) throw new Error(`Against the contract:\n  ${[...violations].join('\n  ')}`);
}

const test = createScope();

export const mochaHooks: RootHookObject = {
  beforeAll(this: Context) {
    this.test?.parent?.suites.forEach(addScopes);
  },
  beforeEach: test.begin,
  afterEach: [test.end, check],
  afterAll: check,
};
