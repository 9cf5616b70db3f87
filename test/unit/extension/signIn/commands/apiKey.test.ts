import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiKeyList } from '../../../../../src/extension/signIn/apiKeys/apiKeyList.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';

const { explainMissingKeyAccess } = await import('../../../../../src/extension/signIn/commands/apiKey.ts');

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
