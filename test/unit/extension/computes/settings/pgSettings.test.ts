import assert from 'node:assert/strict';
import {
  formatSettings,
  parsePgSettings,
  settingNamedIn,
  belongsToAccount,
  settingsUri,
  parseSettingsUri,
} from '../../../../../src/extension/computes/settings/pgSettings.ts';
import { postgresSettings } from '../../../../../src/extension/inventory/computeStatus.ts';
import { parseBaseUrl } from '../../../../../src/api/transport/baseUrl.ts';
import { PUBLIC_BASE_URL } from '../../../../helpers/publicBaseUrl.ts';

describe('parsePgSettings', () => {
  it('reads the text of formatSettings back', () => {
    const settings = { work_mem: '16MB', jit: 'off' };
    assert.deepEqual(parsePgSettings(formatSettings(settings)), { settings });
    assert.deepEqual(parsePgSettings(formatSettings({})), { settings: {} });
  });

  it('turns every value into text, as in a configuration file', () => {
    const { settings } = { settings: undefined, ...parsePgSettings('{"jit":true,"geqo":false,"x.y":1.5}') };
    assert.deepEqual(settings, { jit: 'on', geqo: 'off', 'x.y': '1.5' });
    assert.deepEqual(postgresSettings({ settings: { pg_settings: { jit: true, seq_page_cost: 2 } } }), {
      jit: 'on',
      seq_page_cost: '2',
    });
  });

  it('returns no settings for a record without any', () => {
    for (const settings of [undefined, null, {}, { pg_settings: null }])
      assert.deepEqual(postgresSettings({ settings }), {});
  });

  it('formats one setting a line and ends with a line break', () => {
    assert.equal(
      formatSettings({ jit: 'off', work_mem: '1MB' }),
      '{\n  "jit": "off",\n  "work_mem": "1MB"\n}\n',
    );
    assert.deepEqual(postgresSettings({ settings: { pg_settings: { odd: null } } }), { odd: '' });
  });

  it('rejects settings that the service sets, in any case', () => {
    assert.deepEqual(parsePgSettings('{"work_mem":"1MB","Max_Connections":5,"shared_buffers":"1GB"}'), {
      problems: [
        { kind: 'fixed', key: 'Max_Connections' },
        { kind: 'fixed', key: 'shared_buffers' },
      ],
    });
  });

  it('rejects values that a setting cannot have', () => {
    assert.deepEqual(parsePgSettings('{"a":null,"b":{},"c":[1],"d":"ok"}'), {
      problems: ['a', 'b', 'c'].map((key) => ({ kind: 'value', key })),
    });
  });

  it('accepts only a JSON object', () => {
    for (const text of ['[]', '1', 'null', '"x"'])
      assert.deepEqual(parsePgSettings(text), { problems: [{ kind: 'notAnObject' }] }, text);
    for (const text of ['', '{', '{"a":1,}', '// none\n{}'])
      assert.partialDeepStrictEqual(parsePgSettings(text), { problems: [{ kind: 'syntax' }] }, text);
  });
});

describe('settingNamedIn', () => {
  const keys = ['work_mem', 'Jit', 'statement_timeout'];

  it('finds the parameter that Postgres names', () => {
    assert.equal(settingNamedIn('invalid value for parameter "work_mem": "lots"', keys), 'work_mem');
    assert.equal(settingNamedIn('parameter "jit" requires a Boolean value', keys), 'Jit');
    const withOther = 'invalid value for parameter "statement_timeout": "work_mem"';
    assert.equal(settingNamedIn(withOther, keys), 'statement_timeout');
  });

  it('finds a setting whose name is in the message', () => {
    assert.equal(settingNamedIn('statement_timeout: 1 must be an integer', keys), 'statement_timeout');
  });

  it('returns undefined if no setting is named', () => {
    assert.equal(settingNamedIn('the compute is disabled', keys), undefined);
    assert.equal(settingNamedIn('maintenance_work_mem is too large', keys), undefined);
  });
});

const account = { baseUrl: PUBLIC_BASE_URL, name: 'work' };
const owner = { projectId: 'shop', computeId: 'ep-one' };

describe('settingsUri', () => {
  it('contains the ids of the compute', () => {
    assert.deepEqual(parseSettingsUri(settingsUri(account, owner, 'main')), owner);
  });

  it('of version 0.4 is known, because VS Code restores open editors by it', () => {
    assert.deepEqual(parseSettingsUri({ path: '/shop/ep-one.pg_settings.json' }), owner);
  });

  it('stays the same in a later version, because VS Code restores open editors by it', () => {
    assert.deepEqual(settingsUri(account, owner, 'main'), {
      scheme: 'hosted-postgres-settings',
      path: '/shop/ep-one/main.pg_settings.json',
      query: `${PUBLIC_BASE_URL}#work`,
    });
  });

  it('belongs to one account', () => {
    const address = settingsUri(account, owner, 'main');
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
    assert.equal(settingsUri(before, owner, 'main').query, 'local');
    assert.ok(belongsToAccount(settingsUri(before, owner, 'main'), after));
  });

  it('is invalid with anything but ids in it', () => {
    for (const path of [
      '/shop/br-x.pg_settings.json',
      '/a/../ep-one.pg_settings.json',
      '/ep-one.pg_settings.json',
      '/shop/ep-one/a/main.pg_settings.json',
      '/shop',
    ])
      assert.equal(parseSettingsUri({ path }), undefined, path);
  });
});
