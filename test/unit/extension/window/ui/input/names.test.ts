import { enterInInputBoxes } from '../../../../../helpers/enterIn.ts';
import assert from 'node:assert/strict';
import type { CommandContext } from '../../../../../../src/extension/commandSupport/context.ts';

const { createApiKey } = await import('../../../../../../src/extension/signIn/commands/apiKey.ts');
const { snapshotNameQuestion } =
  await import('../../../../../../src/extension/history/commands/changeSnapshot.ts');

describe('A name that is entered', () => {
  const position = { title: '', step: 1, totalSteps: 1, canGoBack: false };

  it('has no control character, and is not too long', async () => {
    for (const name of ['a\u0000b', 'a\tb', 'x'.repeat(257)]) {
      const shown = await enterInInputBoxes(name);
      void snapshotNameQuestion('Name')(position);
      assert.equal(shown[0]?.validationMessage, 'At most 256 characters, no control characters');
    }
  });

  it('of a key has at most 64 characters', async () => {
    const shown = await enterInInputBoxes('x'.repeat(65));
    const context = {
      session: { requireConnection: () => undefined },
      guards: { cachedMark: () => undefined },
      apiKeys: {},
    };
    void createApiKey(context as unknown as CommandContext, undefined, { failureMessage: '' } as never);
    assert.equal(shown[0]?.validationMessage, 'At most 64 characters, no control characters');
  });
});
