import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Branch } from '../../../../../src/api/records/records.ts';
import { changeBranch } from '../../../../../src/extension/agents/tools/branchChange.ts';
import type { ToolCall } from '../../../../../src/extension/agents/tools/toolCall.ts';

describe('changeBranch', () => {
  afterEach(() => mock.restoreAll());

  it('waits at most 45 seconds for the end of the operations', async () => {
    const late = new AbortController();
    const timeout = mock.method(AbortSignal, 'timeout', () => late.signal).mock;
    const tracker = { onDidEnd: () => ({ dispose: () => undefined }) };
    const call = { deps: { tracker }, signal: new AbortController().signal } as unknown as ToolCall<unknown>;
    let result: unknown;
    const changed = changeBranch(call, async () => ({ pendingId: 'op-1' })).then((value) => (result = value));
    await setImmediate();
    assert.equal(result, undefined);
    late.abort();
    assert.deepEqual(await changed, { pendingId: 'op-1' });
    assert.deepEqual(timeout.calls[0]?.arguments, [45_000]);
  });

  it('does not miss an end that comes before the reply', async () => {
    let end: (report: unknown) => void = () => assert.fail('nobody listens');
    const onDidEnd = (listener: typeof end) => {
      end = listener;
      return { dispose: () => undefined };
    };
    const call = {
      deps: { tracker: { onDidEnd } },
      signal: new AbortController().signal,
    } as unknown as ToolCall<unknown>;
    const branch = { id: 'br-1' } as Branch;
    const changed = await changeBranch(call, async () => {
      end({ change: { id: 'op-1', branchId: 'br-1' }, outcome: 'finished' });
      return { pendingId: 'op-1', branch };
    });
    assert.deepEqual(changed, { pendingId: undefined, branch });
  });
});
