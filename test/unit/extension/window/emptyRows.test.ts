import assert from 'node:assert/strict';
import { EmptyRows } from '../../../../src/extension/window/emptyRows.ts';

describe('EmptyRows', () => {
  it('waits until there are no rows, and then for the timer after which VS Code has them', async () => {
    const rows = new EmptyRows();
    rows.note(['shop']);
    const seen: string[] = [];
    const shown = rows.shown().then(() => seen.push('none'));
    assert.deepEqual(rows.note([]), []);
    await Promise.resolve();
    assert.deepEqual(seen, []);
    await shown;
    await rows.shown();
    assert.deepEqual(seen, ['none']);
  });
});
