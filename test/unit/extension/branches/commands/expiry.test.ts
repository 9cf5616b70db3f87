import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { typedLifetime } = await import('../../../../../src/extension/branches/commands/expiry.ts');

describe('typedLifetime', () => {
  it('accepts up to 30 days, as the list offers', () => {
    assert.equal(typedLifetime('30 days')?.value, 30 * 24 * 60 * 60);
    assert.deepEqual(typedLifetime('31 days'), {
      label: '31 days',
      description: 'too long: at most 30 days',
      alwaysShow: true,
      value: undefined,
    });
  });
});
