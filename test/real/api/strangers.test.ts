/**
 * For any reply of a service, a call returns records or throws an ApiError, and a list keeps its good records. The replies
 * are generated, up to 10,000 for each call of the client.
 */
import assert from 'node:assert/strict';
import fc from '../../helpers/fastCheck.ts';
import { PUBLIC_BASE_URL } from '../../helpers/publicBaseUrl.ts';
import { Client } from '../../../src/api/client.ts';
import { ApiError } from '../../../src/api/transport/errors.ts';
import { roundsOf } from '../../helpers/fullRun.ts';
import * as generated from './replies.ts';
import type { GeneratedReply } from './replies.ts';

const KEY = 'a-key-that-must-stay-secret';
const RUNS = roundsOf(500, 10_000);
const UUID = '01234567-89ab-cdef-0123-456789abcdef';

const BODILESS = new Set([204, 304]);

const asResponse = ({ status, headers, body }: GeneratedReply): Response =>
  new Response(BODILESS.has(status) ? null : body, { status, headers });

const clientThatGets = (reply: () => Response): Client =>
  new Client({ baseUrl: PUBLIC_BASE_URL, key: KEY, retries: 0, fetch: async () => reply() });

async function pages(client: Client) {
  const found = [];
  for await (const page of client.projectPages()) found.push(page);
  return found;
}

const creation = { branch_id: 'br-main', type: 'read_only' } as const;
const where = { computeId: 'ep-1', branchId: 'br-1', role: 'r', database: 'd', pooled: false, host: 'h' };

const calls: readonly {
  readonly name: string;
  readonly call: (client: Client) => Promise<unknown>;
  readonly shapes: fc.Arbitrary<unknown>;
}[] = [
  {
    name: 'createApiKey',
    call: (c) => c.createApiKey('k'),
    shapes: generated.brokenRecord((id) => ({ id, key: 'x' })),
  },
  {
    name: 'revokeApiKey',
    call: (c) => c.revokeApiKey(1),
    shapes: generated.brokenRecord((id) => ({ id, name: 'k', revoked: true })),
  },
  { name: 'createCompute', call: (c) => c.createCompute('p', creation), shapes: generated.changeReply() },
  { name: 'updateCompute', call: (c) => c.updateCompute('p', 'ep-1', {}), shapes: generated.changeReply() },
  { name: 'deleteCompute', call: (c) => c.deleteCompute('p', 'ep-1'), shapes: generated.changeReply() },
  { name: 'restartCompute', call: (c) => c.restartCompute('p', 'ep-1'), shapes: generated.changeReply() },
  {
    name: 'findOperation',
    call: (c) => c.findOperation('p', UUID),
    shapes: generated.brokenRecord(generated.goodOperation).map((operation) => ({ operation })),
  },
  {
    name: 'findCredentials',
    call: (c) => c.findCredentials('p', where),
    shapes: generated.brokenRecord(() => ({ uri: 'postgresql://u:p@h/d' })),
  },
];

interface Read {
  readonly items: readonly { readonly id: string | number }[];
  readonly unreadable: readonly unknown[];
}

const lists: readonly {
  readonly name: string;
  readonly good: generated.Good;
  readonly wrap: (list: unknown[]) => unknown;
  readonly call: (client: Client) => Promise<Read>;
}[] = [
  { name: 'listApiKeys', good: generated.goodKey, wrap: (list) => list, call: (c) => c.listApiKeys() },
  {
    name: 'projectPages',
    good: generated.goodProject,
    wrap: (projects) => ({ projects }),
    call: async (c) => (await pages(c))[0] ?? { items: [], unreadable: [] },
  },
  {
    name: 'listComputes',
    good: generated.goodCompute,
    wrap: (endpoints) => ({ endpoints }),
    call: (c) => c.listComputes('p'),
  },
];

describe('Client with generated replies', () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => void unhandled.push(reason);

  // Stack traces of a hundred thousand expected errors would take a third of the time.
  const { stackTraceLimit } = Error;
  before(() => {
    Error.stackTraceLimit = 0;
    process.on('unhandledRejection', onUnhandled);
  });
  after(async () => {
    await new Promise(setImmediate);
    process.off('unhandledRejection', onUnhandled);
    Error.stackTraceLimit = stackTraceLimit;
    assert.deepEqual(unhandled, []);
  });

  /** Runs a call, which may only throw an ApiError without the key in it. */
  async function recordsOrApiError(call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (error) {
      assert.ok(error instanceof ApiError, `threw ${String(error)}`);
      assert.ok(!error.message.includes(KEY) && !error.message.includes('Bearer'));
      assert.ok(error.message.length < 2000);
    }
  }

  const everything = [
    ...calls,
    ...lists.map(({ name, good, wrap, call }) => ({
      name,
      call,
      shapes: generated.mixedList(good).map(({ list }) => wrap(list)),
    })),
  ];
  for (const { name, call, shapes } of everything) {
    it(`${name} returns records or throws an ApiError`, () =>
      fc.assert(
        fc.asyncProperty(generated.replies(shapes), (reply) =>
          recordsOrApiError(() => call(clientThatGets(() => asResponse(reply)))),
        ),
        { numRuns: RUNS },
      ));
  }

  for (const { name, good, wrap, call } of lists) {
    it(`${name} keeps the good records of a list`, () =>
      fc.assert(
        fc.asyncProperty(generated.mixedList(good), async ({ goodIds, list }) => {
          const body = JSON.stringify(wrap(list));
          const { items, unreadable } = await call(clientThatGets(() => new Response(body)));
          const read = new Set(items.map(({ id }) => id));
          for (const id of goodIds) assert.ok(read.has(good(id)['id'] as string | number));
          assert.equal(read.size, items.length, 'duplicate id');
          assert.ok(items.length + unreadable.length <= list.length);
          assert.ok(unreadable.length <= list.length / 2, 'a good record was not read');
        }),
        { numRuns: RUNS / 10 },
      ));
  }

  it('reads the neighbors of a deeply nested record', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const records = [generated.goodCompute(1), generated.goodCompute(2)].map((record) =>
      JSON.stringify(record),
    );
    const bad = `{"id":"ep-3","x":${deep}}`;
    const body = `{"endpoints":[${[records[0], bad, records[1]].join(',')}]}`;
    const { items, unreadable } = await clientThatGets(() => new Response(body)).listComputes('p');
    assert.deepEqual([items.length, unreadable], [2, [{ id: 'ep-3', field: 'host' }]]);
  });
});
