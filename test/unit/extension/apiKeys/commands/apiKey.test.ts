import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiKeyList } from '../../../../../src/extension/apiKeys/apiKeyList.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';

const { requireKeyAccess } = await import('../../../../../src/extension/apiKeys/commands/apiKey.ts');

describe('requireKeyAccess', () => {
  let store: ScriptedModel;
  let apiKeys: ApiKeyList;
  let method: string;

  beforeEach(async () => {
    store = await connectScripted((call) => (call === 'GET /auth' ? { auth_method: method } : 403));
    apiKeys = new ApiKeyList(store.session);
  });
  afterEach(() => apiKeys.dispose());

  const calls = [
    ['list the keys', () => apiKeys.load()],
    ['create a key', () => apiKeys.create('ci')],
  ] as const;
  for (const [what, call] of calls) {
    it(`shows the service's error if a personal key can't ${what}`, async () => {
      method = 'api_key_user';
      await assert.rejects(
        requireKeyAccess(apiKeys, async () => void (await call())),
        /status 403/,
      );
    });

    it(`says that the key belongs to an organization if that can't ${what}`, async () => {
      method = 'api_key_org';
      await assert.rejects(
        requireKeyAccess(apiKeys, async () => void (await call())),
        /belongs to an organization/,
      );
    });
  }
});
