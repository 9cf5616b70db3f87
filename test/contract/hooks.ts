/** Mocha's hooks for all suites: the test that provoked a reply or sent a request against the contract fails. */
import type { RootHookObject } from 'mocha';
import { tell } from '../trust/tally.ts';
import { startRecording, takeExchanges } from './recordings.ts';

startRecording();

const counts = { requests: 0, replies: 0 };

async function check(): Promise<void> {
  const exchanges = takeExchanges();
  if (exchanges.length === 0) return;
  // Loaded late: parsing the document takes longer than most suites need it for.
  const { checkExchange } = await import('./check.ts');
  const violations = new Set<string>();
  for (const exchange of exchanges) {
    const checked = checkExchange(exchange);
    counts.requests += checked.requests;
    counts.replies += checked.replies;
    for (const each of checked.violations) violations.add(each);
  }
  if (process.env.COLLECT) {
    for (const v of violations) (await import('node:fs')).appendFileSync(process.env.COLLECT, v + '\n');
    return;
  }
  if (violations.size > 0) throw new Error(`Against the contract:\n  ${[...violations].join('\n  ')}`);
}

export const mochaHooks: RootHookObject = {
  afterEach: check,
  async afterAll() {
    await check();
    if (counts.requests > 0) tell('requests checked', counts.requests);
    if (counts.replies > 0) tell('replies checked', counts.replies);
    counts.requests = 0;
    counts.replies = 0;
  },
};
