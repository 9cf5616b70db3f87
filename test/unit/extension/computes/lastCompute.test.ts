import assert from 'node:assert/strict';
import { baseUrlOrUndefined } from '../../../../src/api/transport/baseUrl.ts';
import { AccountConnection } from '../../../../src/extension/account/accountConnection.ts';
import { LastCompute } from '../../../../src/extension/computes/lastCompute.ts';
import { isComputeWithin, type ComputeNode } from '../../../../src/extension/inventory/nodes.ts';
import { MemoryMap } from '../../../helpers/connectedModel.ts';

const node: ComputeNode = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' };
const open = () => Promise.reject(new Error('not used'));

function connectionOf(name: string): AccountConnection {
  const baseUrl = baseUrlOrUndefined('https://a.example/v2');
  assert.ok(baseUrl);
  return new AccountConnection({ baseUrl, name }, 'key', open);
}

describe('LastCompute', () => {
  it('remembers the compute of the last command for its account only', async () => {
    const session = { connection: connectionOf('work') };
    const last = new LastCompute(session, new MemoryMap());
    assert.equal(last.node, undefined);
    await last.remember(node);
    assert.deepEqual(last.node, node);
    session.connection = connectionOf('private');
    assert.equal(last.node, undefined);
  });

  it('ignores what is not a compute', async () => {
    const memory = new MemoryMap();
    const last = new LastCompute({ connection: connectionOf('work') }, memory);
    for (const kept of [null, 'x', {}, { account: 'https://a.example/v2#work', node: { kind: 'branch' } }]) {
      await memory.update('hostedPostgres.lastCompute', kept);
      assert.equal(last.node, undefined);
    }
  });
});

describe('isWithin', () => {
  const rows: readonly [row: unknown, expected: boolean][] = [
    [node, true],
    [{ ...node, computeId: 'ep-two' }, false],
    [{ kind: 'branch', projectId: 'shop', branchId: 'br-main' }, true],
    [{ kind: 'branch', projectId: 'shop', branchId: 'br-dev' }, false],
    [{ kind: 'project', projectId: 'shop' }, true],
    [{ kind: 'project', projectId: 'other' }, false],
    [undefined, false],
  ];
  for (const [row, expected] of rows)
    it(`is ${expected} for ${JSON.stringify(row)}`, () => assert.equal(isComputeWithin(node, row), expected));
});
