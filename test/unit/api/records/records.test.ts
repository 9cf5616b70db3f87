import assert from 'node:assert/strict';
import type * as z from 'zod/mini';
import { parseRecord } from '../../../../src/api/transport/parseResponse.ts';
import {
  ApiKey,
  Compute,
  CreatedApiKey,
  Operation,
  Project,
  RevokedApiKey,
} from '../../../../src/api/records/records.ts';

const isValid = (record: z.ZodMiniType, value: unknown) => record.safeParse(value).success;
const compute = {
  id: 'ep-1',
  host: 'ep-1.example',
  project_id: 'shop',
  branch_id: 'br-main',
  type: 'read_write',
  current_state: 'idle',
};
const operation = { id: 'a', project_id: 'shop', action: 'start_compute', status: 'running' };
const revoked = { id: 1, name: 'ci', revoked: true };

describe('a record', () => {
  it('requires only the fields that the extension needs', () => {
    assert.ok(isValid(Compute, compute));
    assert.ok(isValid(Project, { id: 'shop', name: 'Shop' }));
    assert.ok(isValid(ApiKey, { id: 1, name: '' }));
    assert.ok(isValid(Operation, operation));
    assert.ok(isValid(RevokedApiKey, revoked));
  });

  it('accepts null for optional fields, and unknown values', () => {
    const odd = { ...compute, type: 'read_never', current_state: 'dreaming', name: null, settings: null };
    assert.ok(isValid(Compute, odd));
    assert.ok(
      isValid(Compute, { ...compute, name: 'x'.repeat(4096), disabled: true, settings: { pg_settings: {} } }),
    );
    assert.ok(isValid(Operation, { ...operation, action: 'x', status: 'y', error: 'z'.repeat(9999) }));
  });

  it('accepts a host name or an address, with or without a port', () => {
    const hosts = ['ep-1.eu.example.com', '127.0.0.1:15432', 'localhost', '[::1]:5432', 'EP-1.example:5432'];
    for (const host of hosts) assert.ok(isValid(Compute, { ...compute, host, pooler_host: host }), host);
  });

  it('loses only the settings whose values are unknown', () => {
    const known = { work_mem: '1MB', jit: false, random_page_cost: 1.1, unset: null };
    const pg_settings = { nested: { a: [1] }, list: [[]], ...known };
    const { settings } = Compute.parse({ ...compute, settings: { pg_settings } });
    assert.deepEqual(settings, { pg_settings: { nested: null, list: null, ...known } });
  });

  it('names a wrong field of a field', () => {
    const settings = { pg_settings: [] };
    const json = { endpoint: { ...compute, settings } };
    const reply = { requestLine: 'GET /x', isChange: false, status: 200, json, body: '' };
    assert.throws(() => parseRecord(reply, 'endpoint', Compute), {
      message: 'GET /x returned no usable endpoint.settings.pg_settings',
    });
  });

  const unreadable: readonly [string, z.ZodMiniType, unknown][] = [
    ['a project with a path as its id', Project, { id: '../users', name: 'x' }],
    ['a project without a name', Project, { id: 'a' }],
    ['a compute with the id of a branch', Compute, { ...compute, id: 'br-1' }],
    ['a compute without a project', Compute, { ...compute, project_id: '' }],
    ['a compute with a very long name', Compute, { ...compute, name: 'x'.repeat(4097) }],
    ['a compute with text for a size', Compute, { ...compute, autoscaling_limit_min_cu: '1' }],
    ['a compute with an endless size', Compute, { ...compute, autoscaling_limit_min_cu: Infinity }],
    ['a compute with a number for a flag', Compute, { ...compute, disabled: 1 }],
    ['a compute with a list of settings', Compute, { ...compute, settings: { pg_settings: ['a'] } }],
    ['a compute with text for settings', Compute, { ...compute, settings: { pg_settings: 'a' } }],
    ['a list', Project, [{ id: 'shop', name: 'Shop' }]],
    ['a compute with a line break in its host', Compute, { ...compute, host: 'ep-1.example\nA=1' }],
    ['a compute with a login in its host', Compute, { ...compute, host: 'me@ep-1.example' }],
    ['a compute with a path in its host', Compute, { ...compute, host: 'ep-1.example/app?host=other' }],
    ['a compute with two hosts', Compute, { ...compute, host: 'ep-1.example,other.example' }],
    ['a compute without a host', Compute, { ...compute, host: '' }],
    [
      'a compute with a line break in its pooled host',
      Compute,
      { ...compute, pooler_host: 'a.example\r\nb' },
    ],
    ['a key with a number that lost digits', ApiKey, { id: 2 ** 53, name: 'x' }],
    ['a key with a negative number', ApiKey, { id: -1, name: 'x' }],
    ['a new key without its value', CreatedApiKey, { id: 1, key: '' }],
    ['a new key that is a number', CreatedApiKey, { id: 1, key: 7 }],
    ['a new key with a line break', CreatedApiKey, { id: 1, key: 'one\ntwo' }],
    ['a revocation without a result', RevokedApiKey, { id: 1 }],
    ['a revocation that did not happen', RevokedApiKey, { ...revoked, revoked: false }],
  ];
  for (const [what, record, value] of unreadable)
    it(`rejects ${what}`, () => assert.ok(!isValid(record, value)));
});
