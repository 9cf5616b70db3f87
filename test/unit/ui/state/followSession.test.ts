import { executed } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiError } from '../../../../src/api/errors.ts';
import { Emitter } from '../../../../src/base/event.ts';
import type { SessionState } from '../../../../src/model/account/session.ts';

const { followSession } = await import('../../../../src/ui/state/followSession.ts');

describe('followSession', () => {
  it('sets the context key when the state changes, and only then', () => {
    const changed = new Emitter<SessionState>();
    let current: SessionState = { kind: 'signedOut' };
    const session = {
      onDidChange: changed.event,
      get current() {
        return current;
      },
    };
    executed.length = 0;
    const listener = followSession(session as never);
    const become = (state: SessionState) => {
      current = state;
      changed.fire(state);
    };
    become({ kind: 'loading' });
    become({ kind: 'loading' });
    become({ kind: 'failed', error: new ApiError('', { kind: 'timeout' }) });
    become({ kind: 'failed', error: new Error('other') });
    const states = ['signedOut', 'loading', 'failedUnreachable', 'failed'];
    assert.deepEqual(
      executed,
      states.map((state) => ['setContext', 'hostedPostgres.state', state]),
    );
    listener.dispose();
    become({ kind: 'signedOut' });
    assert.equal(executed.length, states.length);
  });
});
