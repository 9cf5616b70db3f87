import assert from 'node:assert/strict';
import { NodeCache } from '../../../../../src/extension/inventory/ui/nodeCache.ts';

const node = (projectId: string) => ({ kind: 'project', projectId }) as const;

describe('NodeCache', () => {
  it('returns one object per id as long as it has a parent', () => {
    const nodes = new NodeCache();
    const [first] = nodes.setChildren(undefined, [node('a')]);
    assert.equal(nodes.setChildren(undefined, [node('a'), node('b')])[0], first);
    assert.equal(nodes.find(node('a')), first);
    nodes.setChildren(undefined, [node('b')]);
    assert.equal(nodes.find(node('a')), undefined);
  });

  it('drops the descendants of a removed node', () => {
    const nodes = new NodeCache();
    nodes.setChildren(undefined, [node('a')]);
    nodes.setChildren(node('a'), [node('a/b')]);
    nodes.setChildren(node('a/b'), [node('a/b/c')]);
    nodes.setChildren(undefined, []);
    assert.equal(nodes.find(node('a/b/c')), undefined);
  });

  it('compares children with those returned last', () => {
    const nodes = new NodeCache();
    assert.equal(nodes.childrenDiffer(undefined, [node('a')]), false, 'no children returned yet');
    nodes.setChildren(undefined, [node('a'), node('b')]);
    assert.equal(nodes.childrenDiffer(undefined, [node('a'), node('b')]), false);
    assert.equal(nodes.childrenDiffer(undefined, [node('b'), node('a')]), true);
    assert.equal(nodes.childrenDiffer(undefined, [node('a')]), true);
  });
});
