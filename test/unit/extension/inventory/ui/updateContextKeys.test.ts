import { executed } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiError } from '../../../../../src/api/transport/errors.ts';
import type { Disposable } from '../../../../../src/base/disposable.ts';
import { Emitter, type Event } from '../../../../../src/base/event.ts';
import type { InventoryState } from '../../../../../src/extension/inventory/inventory.ts';

const { hideNotOffered } = await import('../../../../../src/extension/window/ui/contextKey.ts');
const { updateContextKeys } = await import('../../../../../src/extension/inventory/ui/updateContextKeys.ts');

describe('updateContextKeys', () => {
  const sessionChanged = new Emitter<never>();
  const changed = new Emitter<never>();
  let inventory: {
    onDidChange: Event<never>;
    state: InventoryState;
    branches: { isOffered: boolean };
    snapshots: { isOffered: boolean };
  };
  let listener: Disposable;

  beforeEach(() => {
    inventory = {
      onDidChange: changed.event,
      state: { kind: 'signedOut' },
      branches: { isOffered: true },
      snapshots: { isOffered: true },
    };
    executed.length = 0;
    listener = updateContextKeys({ onDidChange: sessionChanged.event, connection: undefined }, inventory);
  });
  afterEach(() => listener.dispose());

  const valuesOf = (name: string) =>
    executed.flatMap(([, key, value]) => (key === `hostedPostgres.${name}` ? [value] : []));

  it('asks each service again whether it starts computes', () => {
    hideNotOffered('startAndSuspend');
    sessionChanged.fire(undefined as never);
    assert.deepEqual(valuesOf('startNotOffered'), [true, false]);
  });

  it('hides changes of branches while the service does not offer them', () => {
    executed.length = 0;
    for (const isOffered of [false, false, true]) {
      inventory.branches.isOffered = isOffered;
      changed.fire(undefined as never);
    }
    assert.deepEqual(valuesOf('branchesNotOffered'), [true, false]);
  });

  it('hides the commands for snapshots where they are not offered, until the account changes', () => {
    inventory.snapshots.isOffered = false;
    changed.fire(undefined as never);
    inventory.snapshots.isOffered = true;
    sessionChanged.fire(undefined as never);
    assert.deepEqual(valuesOf('snapshotsNotOffered'), [true, false]);
  });

  it('sets the context key when the state changes, and only then', () => {
    const become = (state: InventoryState) => {
      inventory.state = state;
      changed.fire(undefined as never);
    };
    become({ kind: 'loading' });
    executed.length = 0;
    become({ kind: 'signedOut' });
    become({ kind: 'loading' });
    become({ kind: 'loading' });
    become({ kind: 'failed', error: new ApiError('', { kind: 'timeout' }) });
    become({ kind: 'failed', error: new Error('other') });
    listener.dispose();
    become({ kind: 'signedOut' });
    assert.deepEqual(valuesOf('state'), ['signedOut', 'loading', 'failedUnreachable', 'failed']);
  });
});
