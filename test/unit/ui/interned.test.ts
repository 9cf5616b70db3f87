import assert from 'node:assert/strict';
import { Interned } from '../../../src/ui/tree/interned.ts';

interface Node {
  readonly id: string;
}
const node = (id: string): Node => ({ id });

describe('Interned', () => {
  it('gives out one object for an id, as long as its parent has it', () => {
    const nodes = new Interned<Node>(({ id }) => id);
    const [first] = nodes.setChildren(undefined, [node('a')]);
    assert.equal(nodes.setChildren(undefined, [node('a'), node('b')])[0], first);
    assert.equal(nodes.find(node('a')), first);
    nodes.setChildren(undefined, [node('b')]);
    assert.equal(nodes.find(node('a')), undefined);
  });

  it('lets go of what hung below', () => {
    const nodes = new Interned<Node>(({ id }) => id);
    nodes.setChildren(undefined, [node('a')]);
    nodes.setChildren(node('a'), [node('a/b')]);
    nodes.setChildren(node('a/b'), [node('a/b/c')]);
    nodes.setChildren(undefined, []);
    assert.equal(nodes.find(node('a/b/c')), undefined);
  });

  it('knows whether children are others than those given out', () => {
    const nodes = new Interned<Node>(({ id }) => id);
    assert.equal(nodes.childrenDiffer(undefined, [node('a')]), false, 'none were given out yet');
    nodes.setChildren(undefined, [node('a'), node('b')]);
    assert.equal(nodes.childrenDiffer(undefined, [node('a'), node('b')]), false);
    assert.equal(nodes.childrenDiffer(undefined, [node('b'), node('a')]), true);
    assert.equal(nodes.childrenDiffer(undefined, [node('a')]), true);
  });
});
