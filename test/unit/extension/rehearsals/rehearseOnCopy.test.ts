import assert from 'node:assert/strict';
import type { AccountConnection } from '../../../../src/extension/account/accountConnection.ts';
import { rehearseOnCopy } from '../../../../src/extension/rehearsals/rehearseOnCopy.ts';

type Dependencies = Parameters<typeof rehearseOnCopy>[0];

describe('rehearseOnCopy', () => {
  it('creates and deletes its copy quietly, because the user did neither', async () => {
    const sent: unknown[] = [];
    const note = async (options: { readonly isQuiet?: boolean }) => {
      sent.push(options.isQuiet);
      return { branch: { id: 'br-copy' }, pendingId: undefined };
    };
    const deps = {
      branchActions: {
        create: (_project: string, _creation: object, options: object) => note(options),
        delete: (_copy: object, _how: object, options: object) => note(options),
      },
      tracker: { onDidEnd: () => ({ dispose: () => undefined }) },
    };
    const connection = {
      isLocal: true,
      signal: new AbortController().signal,
      client: async () => ({ branches: {} }),
    };
    const request = {
      parent: { projectId: 'shop', branchId: 'br-main' },
      database: 'app',
      historySeconds: undefined,
      run: async () => 0,
    };
    const rehearsed = rehearseOnCopy(
      deps as unknown as Dependencies,
      connection as unknown as AccountConnection,
      request,
      new AbortController().signal,
    );
    // The copy has no compute, so the rehearsal ends after these two changes.
    await assert.rejects(rehearsed, /has no login/);
    assert.deepEqual(sent, [true, true]);
  });
});
