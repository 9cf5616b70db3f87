import { settings } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { Config } = await import('../../../../../src/extension/window/ui/config.ts');

describe('Config', () => {
  it('keeps a mistyped mark when another one is set or removed', async () => {
    settings.set('hostedPostgres.marks', { shop: 'prodution', blog: 'readOnly' });
    const config = new Config();
    assert.deepEqual(config.marks, { blog: 'readOnly' });
    await config.setMark('local', 'production');
    await config.setMark('blog', undefined);
    assert.deepEqual(settings.get('hostedPostgres.marks'), { shop: 'prodution', local: 'production' });
  });

  it('trusts no extensions if their names are no list, and leaves out what is no name', () => {
    const setting = 'hostedPostgres.localService.trustedExtensions';
    for (const value of [undefined, 'postgis', { postgis: true }]) {
      settings.set(setting, value);
      assert.deepEqual(new Config().trustedExtensions, []);
    }
    settings.set(setting, ['postgis', 1]);
    assert.deepEqual(new Config().trustedExtensions, ['postgis']);
    settings.delete(setting);
  });
});
