import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { connectScripted } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { askForUri, copiedText } =
  await import('../../../../../src/extension/connection/commands/connectionString.ts');

describe('askForUri', () => {
  it('returns nothing of the service but the password and what makes the connection safer', async () => {
    const host = '127.0.0.1:15432';
    const parameters = 'application_name=$(id)&sslkeylogfile=/x&sslmode=disable&channel_binding=require';
    const store = await connectScripted((call) => {
      if (call.endsWith('/roles')) return { roles: [{ name: 'owner' }] };
      if (call.endsWith('/databases')) return { databases: [{ name: 'app', owner_name: 'owner' }] };
      return { uri: `postgresql://$(id):p'$(id)@${host}/other?${parameters}` };
    });
    const compute = computeRecord('ep-one', { host });
    assert.deepEqual(await askForUri(commandContext(store), { title: 'Test', compute, scope: undefined }), {
      uri: `postgresql://owner:p%27%24%28id%29@${host}/app?channel_binding=require`,
      hasPassword: true,
    });
  });
});

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
