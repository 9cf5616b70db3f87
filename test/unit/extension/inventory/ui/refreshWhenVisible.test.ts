import { focus } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Emitter } from '../../../../../src/base/event.ts';

const { refreshWhenVisible } =
  await import('../../../../../src/extension/inventory/ui/refreshWhenVisible.ts');

describe('refreshWhenVisible', () => {
  afterEach(() => (focus.has = true));

  it('refreshes only while the view is visible and the window has the focus', () => {
    let isRefreshing: boolean | undefined;
    const refresh = { setVisible: (visible: boolean) => void (isRefreshing = visible) };
    const changed = new Emitter<{ visible: boolean }>();
    const view = { visible: false, onDidChangeVisibility: changed.event };
    const config = { onDidChange: new Emitter<void>().event };
    const disposables = refreshWhenVisible(refresh, view, config);
    const refreshesWith = (visible: boolean, hasFocus: boolean) => {
      view.visible = visible;
      changed.fire({ visible });
      focus.has = hasFocus;
      for (const listener of focus.listeners) listener();
      return isRefreshing;
    };
    assert.equal(isRefreshing, false);
    assert.equal(refreshesWith(true, true), true);
    assert.equal(refreshesWith(true, false), false);
    assert.equal(refreshesWith(false, true), false);
    assert.equal(refreshesWith(false, false), false);
    disposables.dispose();
    assert.equal(focus.listeners.size, 0);
  });
});
