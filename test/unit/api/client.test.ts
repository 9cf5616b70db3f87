import assert from 'node:assert/strict';
import type { Client } from '../../../src/api/client.ts';
import { ApiError, faultOf, isRejected } from '../../../src/api/transport/errors.ts';
import { KEY, withService } from './stubService.ts';

const UUID = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const compute = {
  id: 'ep-1',
  host: 'ep-1.example',
  project_id: 'shop',
  branch_id: 'br-main',
  type: 'read_only',
  current_state: 'init',
};
const operation = { id: UUID, project_id: 'shop', action: 'start_compute', status: 'running' };
const outcome = { endpoint: compute, operations: [operation] };
const changed = { compute, operations: [operation] };
const where = {
  computeId: 'ep-1',
  branchId: 'br-main',
  role: 'a b',
  database: 'd&d',
  pooled: true,
  host: 'ep-1-pooler.example',
};

const tableChange = { database: 'app', name: 'orders', change: 'altered', added: 1, changed: 2, deleted: 0 };

const creation = { branch_id: 'br-main', type: 'read_only', autoscaling_limit_min_cu: 1 } as const;
const shop = '/projects/shop';
const endpoints = `${shop}/endpoints`;

type Row = readonly [
  request: string,
  call: (client: Client) => Promise<unknown>,
  json: unknown,
  result: unknown,
  body?: unknown,
];
const ROWS: readonly Row[] = [
  [
    'GET /api_keys',
    (c) => c.listApiKeys(),
    [{ id: 1, name: 'ci' }],
    { items: [{ id: 1, name: 'ci' }], unreadable: [] },
  ],
  [
    'POST /api_keys',
    (c) => c.createApiKey('ci'),
    { id: 2, key: 'new' },
    { id: 2, key: 'new' },
    { key_name: 'ci' },
  ],
  ['DELETE /api_keys/2', (c) => c.revokeApiKey(2), { id: 2, revoked: true }, { id: 2, revoked: true }],
  [
    `GET ${endpoints}`,
    (c) => c.listComputes('shop'),
    { endpoints: [compute, { id: 'ep-2' }] },
    { items: [compute], unreadable: [{ id: 'ep-2', field: 'host' }] },
  ],
  [`POST ${endpoints}`, (c) => c.createCompute('shop', creation), outcome, changed, { endpoint: creation }],
  [
    `PATCH ${endpoints}/ep-1`,
    (c) => c.updateCompute('shop', 'ep-1', { suspend_timeout_seconds: -1 }),
    outcome,
    changed,
    { endpoint: { suspend_timeout_seconds: -1 } },
  ],
  [
    `PATCH ${endpoints}/ep-1`,
    (c) => c.updateCompute('shop', 'ep-1', {}),
    { endpoint: compute },
    { compute, operations: [] },
    { endpoint: {} },
  ],
  [`DELETE ${endpoints}/ep-1`, (c) => c.deleteCompute('shop', 'ep-1'), outcome, changed],
  [
    `DELETE ${endpoints}/ep-1`,
    (c) => c.deleteCompute('shop', 'ep-1'),
    undefined,
    { compute: undefined, operations: [] },
  ],
  [`POST ${endpoints}/ep-1/restart`, (c) => c.restartCompute('shop', 'ep-1'), outcome, changed],
  [
    `POST ${endpoints}/ep-1/restart`,
    (c) => c.restartCompute('shop', 'ep-1'),
    {},
    { compute: undefined, operations: [] },
  ],
  [`POST ${endpoints}/ep-1/start`, (c) => c.startCompute('shop', 'ep-1'), outcome, changed],
  [`POST ${endpoints}/ep-1/suspend`, (c) => c.suspendCompute('shop', 'ep-1'), outcome, changed],
  [
    `GET ${endpoints}/ep-1`,
    (c) => c.findCompute('shop', 'ep-1'),
    { endpoint: { ...compute, connections: 3 } },
    { ...compute, connections: 3 },
  ],
  [
    `GET ${shop}/operations?limit=2`,
    (c) => c.listOperations('shop', 2),
    { operations: [operation] },
    { operations: [operation], isComplete: true },
  ],
  [
    `GET ${endpoints}/ep-1/activity`,
    (c) => c.findActivity('shop', 'ep-1'),
    { pooled_clients: 2, sessions: [{ id: '7', state: 'idle' }, { id: 7 }], operations: [operation] },
    { pooledClients: 2, sessions: [{ id: '7', state: 'idle' }], operations: [operation] },
  ],
  [`GET ${shop}/operations/${UUID}`, (c) => c.findOperation('shop', UUID), { operation }, operation],
  [
    `GET ${shop}/connection_uri?endpoint_id=ep-1&branch_id=br-main&role_name=a+b&database_name=d%26d&pooled=true`,
    (c) => c.findCredentials('shop', where),
    { uri: 'postgresql://a:secret@ep-1-pooler.example/d' },
    { password: 'secret', sslMode: undefined, channelBinding: false },
  ],
  [
    `GET ${shop}/branches/br-main/schema?db_name=a+b`,
    (c) => c.branches.getSchema('shop', 'br-main', 'a b'),
    { sql: 'CREATE TABLE a ();' },
    'CREATE TABLE a ();',
  ],
  [
    `GET ${shop}/branches/br-main/schema?db_name=app&lsn=0%2F1A2B`,
    (c) =>
      c.branches.getSchema('shop', 'br-main', 'app', {
        at: { lsn: '0/1A2B', timestamp: '2026-01-01T00:00:00Z' },
      }),
    { sql: '' },
    '',
  ],
  [
    `GET ${shop}/branches/br-main/changes?since=2026-01-01T00%3A00%3A00Z%2Cbr-old%402026-01-01T00%3A00%3A00Z`,
    (c) =>
      c.branches.listChangesSince('shop', 'br-main', ['2026-01-01T00:00:00Z', 'br-old@2026-01-01T00:00:00Z']),
    { changes: [{ since: '2026-01-01T00:00:00Z', tables: [tableChange], tables_count: 1 }, { since: 1 }] },
    [{ since: '2026-01-01T00:00:00Z', tables: [tableChange], tables_count: 1 }],
  ],
  [
    `GET ${shop}/branches/br-main/databases`,
    (c) => c.listDatabases('shop', 'br-main'),
    {
      databases: [
        { id: 1, name: 'app', owner_name: 'a b' },
        { id: 2, name: 'a\nb', owner_name: 'c' },
      ],
    },
    [{ name: 'app', owner_name: 'a b' }],
  ],
  [
    `GET ${shop}/branches/br-main/roles`,
    (c) => c.listRoles('shop', 'br-main'),
    { roles: [{ name: 'owner' }, { name: '' }, { name: 'team', authentication_method: 'no_login' }] },
    [{ name: 'owner' }, { name: 'team', authentication_method: 'no_login' }],
  ],
  [
    'GET /users/me/organizations',
    (c) => c.findOrganizations(),
    { organizations: [{ id: 'org-a-1', name: 'A' }, { id: '../x' }] },
    [{ id: 'org-a-1', name: 'A' }],
  ],
  [
    `POST ${shop}/branches/br-main/roles/a%2Fb%20c/reset_password`,
    (c) => c.resetPassword('shop', 'br-main', 'a/b c'),
    { role: { name: 'a/b c', password: 'new' }, operations: [operation] },
    { password: 'new', operations: [operation] },
  ],
];

describe('Client', () => {
  for (const [request, call, json, result, body] of ROWS)
    it(`sends ${request} and reads ${json === undefined ? 'an empty reply' : 'the reply'}`, () =>
      withService(
        () => ({ json }),
        async (client, seen) => {
          assert.deepEqual(await call(client), result);
          const [only] = seen;
          assert.equal(seen.length, 1);
          assert.equal(`${only?.method} ${only?.path}`, request);
          assert.equal(only?.headers.authorization, `Bearer ${KEY}`);
          assert.equal(only?.headers['content-type'], body === undefined ? undefined : 'application/json');
          assert.deepEqual(only?.body === '' ? undefined : JSON.parse(only?.body ?? ''), body);
        },
      ));

  it('listComputesIfChanged returns undefined for the same reply', async () => {
    const json = { endpoints: [compute, { id: 'ep-2' }] };
    await withService(
      () => ({ json }),
      async (client, seen) => {
        const first = await client.listComputesIfChanged('shop', undefined);
        assert.deepEqual(first?.list, { items: [compute], unreadable: [{ id: 'ep-2', field: 'host' }] });
        assert.equal(await client.listComputesIfChanged('shop', first.body), undefined);
        json.endpoints.pop();
        const other = await client.listComputesIfChanged('shop', first.body);
        assert.deepEqual(other?.list, { items: [compute], unreadable: [] });
        assert.deepEqual(
          seen.map(({ method, path }) => `${method} ${path}`),
          Array(3).fill('GET /projects/shop/endpoints'),
        );
      },
    );
  });

  for (const status of [403, 404, 405]) {
    it(`returns undefined if a call that is not promised fails with ${status}`, () =>
      withService(
        () => ({ status }),
        async (client) => {
          assert.equal(await client.findCompute('shop', 'ep-1'), undefined);
          assert.equal(await client.findOperation('shop', UUID), undefined);
          assert.equal(await client.findCredentials('shop', where), undefined);
          assert.equal(await client.listDatabases('shop', 'br-main'), undefined);
          assert.equal(await client.listRoles('shop', 'br-main'), undefined);
          assert.equal(await client.findOrganizations(), undefined);
          await assert.rejects(client.startCompute('shop', 'ep-1'), (error) => isRejected(error, status));
        },
      ));
  }

  it('throws any other error of such a call', () =>
    withService(
      () => ({ status: 401 }),
      (client) => assert.rejects(client.findOrganizations(), (error) => isRejected(error, 401)),
    ));

  for (const [what, authority, fault] of [
    ['another host', 'a:secret@other.example/d', { reason: 'host', detail: 'other.example' }],
    [
      'the direct host for a pooled one',
      'a:secret@ep-1.example/d',
      { reason: 'host', detail: 'ep-1.example' },
    ],
    ['no password', 'a@ep-1-pooler.example/d', { reason: 'shape', detail: 'uri' }],
  ] as const)
    it(`rejects credentials with ${what}, without showing the password`, () =>
      withService(
        () => ({ json: { uri: `postgresql://${authority}` } }),
        (client) =>
          assert.rejects(client.findCredentials('shop', where), {
            message: `GET /projects/shop/connection_uri returned ${fault.reason === 'host' ? 'another host' : 'no usable uri'}`,
            fault: { kind: 'unexpectedReply', status: 200, ...fault },
            mayHaveExecuted: false,
          }),
      ));

  it('rejects an invalid id without sending it', () =>
    withService(
      () => ({}),
      async (client, seen) => {
        const calls = [
          [client.listComputes('../api_keys'), '"../api_keys" is not a project id'],
          [client.createCompute('', creation), '"" is not a project id'],
          [client.listComputes('a/'.repeat(99)), `"${'a/'.repeat(30)}" is not a project id`],
          [client.updateCompute('shop', 'br-1', {}), '"br-1" is not a compute id'],
          [client.deleteCompute('shop', 'ep-1/../ep-2'), '"ep-1/../ep-2" is not a compute id'],
          [client.restartCompute('shop', 'ep-1?x'), '"ep-1?x" is not a compute id'],
          [client.findOperation('shop', 'all'), '"all" is not an operation id'],
          [client.findCredentials('a b', where), '"a b" is not a project id'],
          [client.listRoles('shop', 'main'), '"main" is not a branch id'],
          [client.resetPassword('shop', 'br-main', '..'), '".." is not a role'],
          [client.revokeApiKey(-1), '"-1" is not an API key id'],
          [client.revokeApiKey(Number.NaN), '"NaN" is not an API key id'],
        ] as const;
        for (const [call, message] of calls)
          await assert.rejects(call, { message, fault: { kind: 'invalidRequest' } });
        assert.deepEqual(seen, []);
      },
    ));

  for (const [name, call] of [
    ['createCompute', (c: Client) => c.createCompute('shop', creation)],
    ['updateCompute', (c: Client) => c.updateCompute('shop', 'ep-1', {})],
  ] as const) {
    it(`${name} throws for an empty reply`, () =>
      withService(
        () => ({ status: 204 }),
        async (client) =>
          assert.rejects(call(client), (error) => error instanceof ApiError && error.mayHaveExecuted),
      ));
  }

  const unusable: readonly [string, unknown, (client: Client) => Promise<unknown>][] = [
    ['createCompute: an object without a compute', {}, (c) => c.createCompute('shop', creation)],
    ['restartCompute: an incomplete compute', { endpoint: {} }, (c) => c.restartCompute('shop', 'ep-1')],
  ];
  for (const [what, json, call] of unusable) {
    it(`rejects the reply to ${what}`, () =>
      withService(
        () => ({ json }),
        async (client) => assert.rejects(call(client), (error) => faultOf(error)?.kind === 'unexpectedReply'),
      ));
  }
});
