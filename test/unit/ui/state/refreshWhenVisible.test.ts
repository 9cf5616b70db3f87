import { focus } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/base/event.ts';
import { BackgroundRefresh } from '../../../../src/model/refresh/backgroundRefresh.ts';
import { RequestBudget } from '../../../../src/model/refresh/requestBudget.ts';
import { connectModel, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { scriptService, type ScriptedService } from '../../../helpers/scriptedService.ts';

const { refreshWhenVisible } = await import('../../../../src/ui/state/refreshWhenVisible.ts');

describe('refreshWhenVisible', () => {
  let service: ScriptedService;
  let store: ConnectedModel;
  let refresh: BackgroundRefresh;

  beforeEach(async () => {
    service = await scriptService(() => ({ projects: [] }));
    store = await connectModel(service);
    refresh = new BackgroundRefresh({
      inventory: store.inventory,
      expanded: () => [],
      polledElsewhere: () => new Set(),
      interval: () => 1000,
      onError: () => undefined,
      budget: new RequestBudget({ clock: store.clock }),
      clock: store.clock,
    });
  });
  afterEach(async () => {
    refresh.dispose();
    store.dispose();
    await service.close();
    focus.has = true;
  });

  it('refreshes only while the view is visible and the window has the focus', () => {
    const changed = new Emitter<{ visible: boolean }>();
    const view = { visible: false, onDidChangeVisibility: changed.event };
    const config = { onDidChange: new Emitter<void>().event };
    const disposables = refreshWhenVisible(refresh, view, config);
    const runsWith = (visible: boolean, hasFocus: boolean) => {
      view.visible = visible;
      changed.fire({ visible });
      focus.has = hasFocus;
      for (const listener of focus.listeners) listener();
      return store.clock.waits.length === 1;
    };
    assert.deepEqual(store.clock.waits, []);
    assert.equal(runsWith(true, true), true);
    assert.equal(runsWith(true, false), false);
    assert.equal(runsWith(true, true), true);
    assert.equal(runsWith(false, true), false);
    assert.equal(runsWith(false, false), false);
    disposables.dispose();
    assert.equal(focus.listeners.size, 0);
    assert.deepEqual(service.requests, []);
  });
});
