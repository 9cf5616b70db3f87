import { executed } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiError } from '../../../../src/api/errors.ts';
import { Emitter } from '../../../../src/base/event.ts';
import type { InventoryState } from '../../../../src/model/inventory/inventory.ts';

const { hideNotOffered } = await import('../../../../src/ui/state/contextKey.ts');
const { updateContextKeys } = await import('../../../../src/ui/state/updateContextKeys.ts');

describe('updateContextKeys', () => {
  it('asks each service again whether it starts computes', () => {
    const changed = new Emitter<never>();
    const onDidChange = new Emitter<never>().event;
    const inventory = { onDidChange, state: { kind: 'loading' }, branches: { isOffered: true } } as const;
    const listener = updateContextKeys({ onDidChange: changed.event }, inventory);
    hideNotOffered('startAndSuspend');
    executed.length = 0;
    changed.fire(undefined as never);
    assert.deepEqual(executed, [['setContext', 'hostedPostgres.startNotOffered', false]]);
    listener.dispose();
  });

  it('hides changes of branches while the service does not offer them', () => {
    const changed = new Emitter<never>();
    const branches = { isOffered: true };
    const inventory = { onDidChange: changed.event, state: { kind: 'ready' } as const, branches };
    const listener = updateContextKeys({ onDidChange: new Emitter<never>().event }, inventory);
    executed.length = 0;
    for (const isOffered of [false, false, true]) {
      branches.isOffered = isOffered;
      changed.fire(undefined as never);
    }
    const key = 'hostedPostgres.branchesNotOffered';
    assert.deepEqual(
      executed,
      [true, false].map((isHidden) => ['setContext', key, isHidden]),
    );
    listener.dispose();
  });

  it('sets the context key when the state changes, and only then', () => {
    const changed = new Emitter<never>();
    let current: InventoryState = { kind: 'signedOut' };
    const inventory = {
      onDidChange: new Emitter<never>().event,
      branches: { isOffered: true },
      get state() {
        return current;
      },
    };
    executed.length = 0;
    const listener = updateContextKeys({ onDidChange: changed.event }, inventory);
    const become = (state: InventoryState) => {
      current = state;
      changed.fire(undefined as never);
    };
    become({ kind: 'loading' });
    become({ kind: 'loading' });
    become({ kind: 'failed', error: new ApiError('', { kind: 'timeout' }) });
    become({ kind: 'failed', error: new Error('other') });
    const set = () => executed.flatMap(([, key, value]) => (key === 'hostedPostgres.state' ? [value] : []));
    const states = ['signedOut', 'loading', 'failedUnreachable', 'failed'];
    assert.deepEqual(set(), states);
    listener.dispose();
    become({ kind: 'signedOut' });
    assert.deepEqual(set(), states);
  });
});
