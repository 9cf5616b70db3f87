import assert from 'node:assert/strict';
import { parseBaseUrl } from '../../../../src/api/baseUrl.ts';
import { PUBLIC_BASE_URL } from '../../../helpers/publicBaseUrl.ts';
import { belongsToAccount, settingsUri, settingsOwner } from '../../../../src/model/settings/settingsUri.ts';

const account = { baseUrl: PUBLIC_BASE_URL, name: 'work' };
const owner = { projectId: 'shop', computeId: 'ep-one' };

describe('settingsUri', () => {
  it('contains the ids of the compute', () => {
    assert.deepEqual(settingsOwner(settingsUri(account, owner)), owner);
  });

  it('stays the same in a later version, because VS Code restores open editors by it', () => {
    assert.deepEqual(settingsUri(account, owner), {
      scheme: 'hosted-postgres-settings',
      path: '/shop/ep-one.pg_settings.json',
      query: `${PUBLIC_BASE_URL}#work`,
    });
  });

  it('belongs to one account', () => {
    const address = settingsUri(account, owner);
    assert.ok(belongsToAccount(address, account));
    assert.ok(!belongsToAccount(address, { ...account, name: '' }));
  });

  it('stays the same when the local service uses another port', () => {
    const local = ['http://127.0.0.1:1/v2', 'http://127.0.0.1:2/v2'].map((text) => {
      const baseUrl = parseBaseUrl(text);
      assert.ok(typeof baseUrl === 'string');
      return { baseUrl, name: '', local: true } as const;
    });
    const [before, after] = local;
    assert.ok(before !== undefined && after !== undefined);
    assert.equal(settingsUri(before, owner).query, 'local');
    assert.ok(belongsToAccount(settingsUri(before, owner), after));
  });

  it('is invalid with anything but ids in it', () => {
    for (const path of [
      '/shop/br-x.pg_settings.json',
      '/a/../ep-one.pg_settings.json',
      '/ep-one.pg_settings.json',
      '/shop',
    ])
      assert.equal(settingsOwner({ path }), undefined, path);
  });
});
