import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { TreeView } from 'vscode';
import { DisposableStore } from '../../../../../src/base/disposable.ts';
import { Emitter } from '../../../../../src/base/event.ts';

describe('The selection of a view', () => {
  it('stays while VS Code draws the rows again, and is what VS Code says afterwards', async () => {
    const { withLastSelection } = await import('../../../../../src/extension/window/ui/lazyTreeView.ts');
    const selected = new Emitter<{ readonly selection: readonly string[] }>();
    const fake = {
      onDidChangeSelection: selected.event,
      selection: [] as readonly string[],
      visible: true,
      message: '',
    };
    const view = withLastSelection(fake as unknown as TreeView<string>, new DisposableStore());
    const select = (...selection: readonly string[]) => {
      fake.selection = selection;
      selected.fire({ selection });
    };
    assert.deepEqual(view.selection, []);
    select('shop');
    // It doesn't find the rows that it draws.
    fake.selection = [];
    assert.deepEqual(view.selection, ['shop']);
    fake.selection = ['shop'];
    select();
    assert.deepEqual(view.selection, []);
    assert.equal(view.visible, true);
  });
});
