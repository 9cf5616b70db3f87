import assert from 'node:assert/strict';
import { ExpandedProjects } from '../../../../src/extension/inventory/expandedProjects.ts';
import type { Session } from '../../../../src/extension/account/session.ts';
import { MemoryMap } from '../../../helpers/connectedModel.ts';

describe('ExpandedProjects', () => {
  const windowOf = (memory: MemoryMap, accountId: string) =>
    new ExpandedProjects({ connection: { accountId } as Session['connection'] }, memory);

  it('are remembered for the next window, for each account', () => {
    const memory = new MemoryMap();
    const first = windowOf(memory, 'a');
    assert.deepEqual([first.add('shop'), first.add('shop'), first.add('blog')], [true, false, true]);
    windowOf(memory, 'b').add('b-shop');
    const next = windowOf(memory, 'a');
    assert.deepEqual(
      ['shop', 'blog', 'b-shop'].map((id) => next.wasExpanded(id)),
      [true, true, false],
    );
    assert.deepEqual([...next.ids], [], 'they are not refreshed before they are shown');
    assert.ok(next.add('shop'));
    next.delete('shop');
    assert.equal(windowOf(memory, 'a').wasExpanded('shop'), false);
    next.clear();
    assert.ok(windowOf(memory, 'a').wasExpanded('blog'));
  });

  it('are the last twenty, because each is loaded when the window opens', () => {
    const memory = new MemoryMap();
    const expanded = windowOf(memory, 'a');
    for (let index = 0; index < 25; index++) expanded.add(`p${index}`);
    assert.deepEqual([expanded.wasExpanded('p4'), expanded.wasExpanded('p5')], [false, true]);
    assert.equal(expanded.ids.size, 25);
  });
});
