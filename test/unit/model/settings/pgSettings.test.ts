import assert from 'node:assert/strict';
import {
  areSameSettings,
  formatSettings,
  parseSettings,
  settingNamedIn,
  settingsOn,
} from '../../../../src/model/settings/pgSettings.ts';

describe('Postgres settings as a document', () => {
  it('come back from their own text', () => {
    const settings = { work_mem: '16MB', jit: 'off' };
    assert.deepEqual(parseSettings(formatSettings(settings)), { settings });
    assert.deepEqual(parseSettings(formatSettings({})), { settings: {} });
  });

  it('hold every value as text, as a configuration file does', () => {
    const { settings } = { settings: undefined, ...parseSettings('{"jit":true,"geqo":false,"x.y":1.5}') };
    assert.deepEqual(settings, { jit: 'on', geqo: 'off', 'x.y': '1.5' });
    assert.deepEqual(settingsOn({ settings: { pg_settings: { jit: true, seq_page_cost: 2 } } }), {
      jit: 'on',
      seq_page_cost: '2',
    });
  });

  it('are empty where the record has none', () => {
    for (const settings of [undefined, null, {}, { pg_settings: null }])
      assert.deepEqual(settingsOn({ settings }), {});
  });

  it('are the same in another order', () => {
    assert.ok(areSameSettings({ a: '1', b: '2' }, { b: '2', a: '1' }));
    assert.ok(!areSameSettings({ a: '1' }, { a: '1', b: '2' }));
  });

  it('cannot have what the service fixes, however it is written', () => {
    assert.deepEqual(parseSettings('{"work_mem":"1MB","Max_Connections":5,"shared_buffers":"1GB"}'), {
      problems: [
        { kind: 'fixed', key: 'Max_Connections' },
        { kind: 'fixed', key: 'shared_buffers' },
      ],
    });
  });

  it('cannot have values that are none', () => {
    assert.deepEqual(parseSettings('{"a":null,"b":{},"c":[1],"d":"ok"}'), {
      problems: ['a', 'b', 'c'].map((key) => ({ kind: 'value', key })),
    });
  });

  it('are an object of JSON', () => {
    for (const text of ['[]', '1', 'null', '"x"'])
      assert.deepEqual(parseSettings(text), { problems: [{ kind: 'notAnObject' }] }, text);
    for (const text of ['', '{', '{"a":1,}', '// none\n{}'])
      assert.deepEqual(parseSettings(text), { problems: [{ kind: 'syntax' }] }, text);
  });
});

describe('the setting a refusal is about', () => {
  const keys = ['work_mem', 'Jit', 'statement_timeout'];

  it('is the parameter that Postgres names', () => {
    assert.equal(settingNamedIn('invalid value for parameter "work_mem": "lots"', keys), 'work_mem');
    assert.equal(settingNamedIn('parameter "jit" requires a Boolean value', keys), 'Jit');
  });

  it('is a setting whose name stands in the words', () => {
    assert.equal(settingNamedIn('statement_timeout: 1 must be an integer', keys), 'statement_timeout');
  });

  it('is none where no setting is named', () => {
    assert.equal(settingNamedIn('the compute is disabled', keys), undefined);
    assert.equal(settingNamedIn('maintenance_work_mem is too large', keys), undefined);
  });
});
