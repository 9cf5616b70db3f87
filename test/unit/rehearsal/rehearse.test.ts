import assert from 'node:assert/strict';
import type { Rehearsal } from '../../../src/api/records/rehearsal.ts';
import { rehearse, type Rehearser } from '../../../src/rehearsal/rehearse.ts';

const dropped = { database: 'app', id: 1, name: 'public.users', kind: 'r', file: 1, bytes: 0, columns: {} };
const rehearsal: Rehearsal = { statements: [], locks: [], before: [dropped], after: [] };

describe('rehearse', () => {
  it('makes no second copy after it was canceled, which would stay', async () => {
    const cancel = new AbortController();
    const calls: string[] = [];
    const rehearser: Rehearser<{ readonly url: string }> = {
      copyBranch: async () => {
        calls.push('copy');
        return { url: 'postgresql://owner@127.0.0.1:1/app' };
      },
      startRehearsal: async () => true,
      rehearsal: async () => rehearsal,
      origin: async () => {
        cancel.abort(new Error('canceled'));
        return { branchId: 'br-main', lsn: '0/1' };
      },
      isUnchangedSince: async () => true,
      schema: async () => assert.fail(),
      delete: async () => void calls.push('delete'),
    };
    const running = rehearse(rehearser, { run: async () => 0 }, { longestLock: 1000 }, cancel.signal);
    await assert.rejects(running, /canceled/);
    assert.deepEqual(calls, ['copy', 'delete']);
  });
});
