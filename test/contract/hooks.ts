/** Mocha's hooks for all suites: the test that provoked a reply or sent a request against the contract fails. */
import type { RootHookObject } from 'mocha';
import { beginTest, endTest } from '../helpers/atEndOfTest.ts';
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

export const mochaHooks: RootHookObject = {
  beforeEach: beginTest,
  afterEach: [endTest, check],
  afterAll: check,
};
