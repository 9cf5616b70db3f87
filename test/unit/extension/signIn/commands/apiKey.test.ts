import { answers, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiKeyList } from '../../../../../src/extension/signIn/apiKeys/apiKeyList.ts';
import type { Command, CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { until } from '../../../../workbench/until.ts';

const { createApiKey, explainMissingKeyAccess, revokeApiKey } =
  await import('../../../../../src/extension/signIn/commands/apiKey.ts');

describe('explainMissingKeyAccess', () => {
  for (const [status, message] of [
    [403, /may belong to an organization/],
    [500, /status 500/],
  ] as const)
    it(`explains ${status}`, async () => {
      const { session } = await connectScripted(() => status);
      const apiKeys = new ApiKeyList(session);
      await assert.rejects(
        explainMissingKeyAccess(async () => apiKeys.load()),
        message,
      );
      await assert.rejects(
        explainMissingKeyAccess(async () => apiKeys.create('ci')),
        message,
      );
      apiKeys.dispose();
    });
});

describe('The row of a key', () => {
  let keys: { readonly id: number; readonly name: string }[];
  let model: ScriptedModel;
  /** What was done, in this order. */
  const done: string[] = [];

  beforeEach(async () => {
    keys = [7, 8, 9].map((id) => ({ id, name: `key ${id}` }));
    answers.length = done.length = 0;
    model = await connectScripted((call) => {
      if (call.startsWith('GET')) return keys;
      done.push(call);
      if (call.startsWith('DELETE'))
        return { ...keys.find(({ id }) => call.endsWith(`/${id}`)), revoked: true };
      keys.push({ id: 10, name: 'ci' });
      return { id: 10, key: 'secret' };
    });
  });

  const run = async (command: Command, argument?: unknown) => {
    const apiKeys = new ApiKeyList(model.session);
    await apiKeys.load();
    const apiKeysView = {
      view: { visible: true },
      reveal: async (id: number) => void done.push(`select ${id}`),
    };
    const log = { addSecret: () => done.push('show the key'), error: assert.fail };
    const context = { ...model, apiKeys, apiKeysView, log } as unknown as CommandContext;
    await command(context, argument, { failureMessage: '', ...model.options });
    apiKeys.dispose();
  };

  it('is selected when its key was created and shown', async () => {
    const end = run(createApiKey);
    const input = await until('the question', async () => quickPicks.at(-1));
    input.type('ci');
    input.accept();
    await end;
    assert.deepEqual(done, ['POST /api_keys', 'show the key', 'select 10']);
  });

  for (const [revoked, neighbor] of [
    [8, 9],
    [9, 8],
  ] as const)
    it(`leaves the selection to its neighbor before its key is revoked: ${revoked}`, async () => {
      answers.push('Revoke');
      await run(revokeApiKey, { kind: 'apiKey', keyId: revoked });
      assert.deepEqual(done, [`select ${neighbor}`, `DELETE /api_keys/${revoked}`]);
    });

  it('leaves the selection where it is if the key was chosen elsewhere', async () => {
    answers.push('Revoke');
    const end = run(revokeApiKey);
    const picker = await until(
      'the keys',
      async () => quickPicks.at(-1)?.items.length === 3 && quickPicks.at(-1),
    );
    picker.accept();
    await end;
    assert.deepEqual(done, ['DELETE /api_keys/7']);
  });
});
