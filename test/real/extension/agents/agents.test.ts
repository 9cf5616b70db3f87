/**
 * Calls of a hostile agent over the socket of a window, on a real local service: nothing changes that isn't the agent's,
 * and no reply contains a secret. Set `CALLS` and `SEED` for longer and other runs.
 */
import assert from 'node:assert/strict';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../helpers/seed.ts';
import { hostileCalls, Random } from './agentCalls.ts';
import { createAgentWorld } from './agentWorld.ts';

const CALLS = Number(process.env['CALLS'] ?? roundsOf(100, 300));
/** At the same time. */
const CLIENTS = 6;

describe('A hostile agent', () => {
  it(`changes nothing of others, and learns no secret (${CALLS} calls, seed ${RANDOM_SEED})`, async () => {
    const world = await createAgentWorld();
    try {
      const targets = await world.start();
      const [users] = targets.branches;
      assert(users !== undefined);
      const own = { projectId: targets.project, branchId: targets.own };
      const before = await world.state(targets);
      const calls = hostileCalls(new Random(randomNumbers()), targets, CALLS);
      const outcomes = new Map<string, number>();
      const queue = calls.values();
      const work = async () => {
        for (const call of queue) {
          const reply = await world.send(call.bytes, call.isTorn ? async () => undefined : undefined);
          for (const secret of world.secrets)
            assert.ok(!reply.includes(secret), `${call.kind}: ${call.bytes.toString()} → ${reply}`);
          const outcome = outcomeOf(reply);
          if (call.isClosed) assert.equal(outcome, 'closed', `${call.kind}: ${reply}`);
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, work));
      console.log(`      ${[...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`);
      // Most must get as far as the tools.
      assert.ok((outcomes.get('refused') ?? 0) > CALLS / 2);
      assert.deepEqual(await world.state(targets), before);
      for (const secret of world.secrets)
        assert.ok(!world.log.some((line) => line.includes(secret)), 'the log has a secret');

      // The window still serves agents, and they may still change what is theirs.
      const read = { sql: 'select count(*) from shop.products' };
      assert.deepEqual((await world.tool('runSql', { ...users, ...read })).rows, [['2']]);
      await world.abandon(users);
      await world.tool('resetBranch', own);
      await world.tool('runSql', { ...own, sql: 'drop schema shop cascade', write: true });
      await world.tool('deleteBranch', own);
      assert.deepEqual(await world.state(targets), before);
    } finally {
      await world.close();
    }
  });
});

/** What the window did: the greeting is followed by an answer or by the end of the connection. */
function outcomeOf(reply: string): string {
  const [, answer = ''] = reply.split('\n');
  if (answer === '') return 'closed';
  return answer.startsWith('{"error":') ? 'refused' : 'answered';
}
