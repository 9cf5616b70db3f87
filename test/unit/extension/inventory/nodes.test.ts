import assert from 'node:assert/strict';
import {
  asApiKeyNode,
  asBranchNode,
  asComputeNode,
  asProjectNode,
  computeNodeOf,
} from '../../../../src/extension/inventory/nodes.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';

describe('nodes from command arguments', () => {
  const compute = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' };

  it('are returned without further properties', () => {
    assert.deepEqual(asComputeNode(compute), compute);
    assert.deepEqual(asComputeNode(computeNodeOf(computeRecord('ep-one'))), compute);
    const branch = { kind: 'branch', projectId: 'shop', branchId: 'br-main' };
    assert.deepEqual(asBranchNode(branch), branch);
    assert.deepEqual(asProjectNode({ kind: 'project', projectId: 'shop' }), {
      kind: 'project',
      projectId: 'shop',
    });
    assert.deepEqual(asApiKeyNode({ kind: 'apiKey', keyId: 1 }), { kind: 'apiKey', keyId: 1 });
  });

  it('are undefined for any other value', () => {
    const odd: unknown[] = [
      undefined,
      null,
      'ep-one',
      [],
      { kind: 'compute' },
      { ...compute, kind: 'branch' },
      { ...compute, computeId: '../admin' },
      { ...compute, computeId: 'br-one' },
      { ...compute, projectId: 'a/b' },
      { ...compute, projectId: { toString: () => 'shop' } },
    ];
    for (const value of odd) assert.equal(asComputeNode(value), undefined);
    assert.equal(asApiKeyNode({ kind: 'apiKey', keyId: '1' }), undefined);
    assert.equal(asApiKeyNode({ kind: 'key', keyId: 1 }), undefined);
    assert.equal(asProjectNode({ kind: 'branch', projectId: 'shop' }), undefined);
    const branch = { kind: 'branch', projectId: 'shop', branchId: 'br-main' };
    for (const field of ['kind', 'projectId', 'branchId'])
      assert.equal(asBranchNode({ ...branch, [field]: 'a/b' }), undefined, field);
    assert.equal(asComputeNode({ ...compute, branchId: 'a/b' }), undefined);
    assert.equal(asApiKeyNode({ kind: 'apiKey', keyId: -1 }), undefined);
    assert.equal(asProjectNode({ kind: 'project', projectId: 'A' }), undefined);
  });
});
