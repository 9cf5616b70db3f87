import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { copiedText } = await import('../../../../../src/ui/commands/connection/connectionString.ts');

describe('copiedText', () => {
  it('says whether the copied text has the password or a placeholder', () => {
    const password = 'PASSWORD';
    assert.equal(copiedText('URL', undefined), 'Copied URL without a password');
    assert.equal(copiedText('URL', { password, isPlaceholder: false }), 'Copied URL with the password');
    assert.equal(
      copiedText('URL', { password, isPlaceholder: true }),
      'Copied URL with a placeholder for the password',
    );
  });
});
