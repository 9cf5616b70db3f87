import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiError } from '../../../../../src/api/transport/errors.ts';

const { unchangedKeyError } = await import('../../../../../src/extension/signIn/commands/rotateApiKey.ts');
const { explainError } = await import('../../../../../src/extension/window/ui/errorMessage.ts');

describe('Rotate API Key…', () => {
  const actionAfter = (status: number, step: 'create' | 'test' | 'store') => {
    const fault = {
      kind: 'rejected',
      status,
      code: '',
      requestId: undefined,
      retryAfter: undefined,
    } as const;
    return explainError(unchangedKeyError({ kind: 'unchanged', step, error: new ApiError('No', fault) }))
      .action;
  };

  it('offers what helps if no key was created, and no other key if the new one is rejected', () => {
    assert.equal(actionAfter(503, 'create'), 'retry');
    assert.equal(actionAfter(401, 'create'), 'newKey');
    assert.equal(actionAfter(401, 'test'), 'log');
  });
});
