import { quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { connectModel, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import {
  CodedError,
  computeRecord,
  operationRecord,
  scriptService,
} from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { handleCommand } = await import('../../../../../src/extension/commandHandlers.ts');

const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();

describe('The moments of Undo… on a local service', () => {
  let model: ConnectedModel;
  let branches: object[];
  const change = { database: 'app', schema: 'public', name: 'orders', added: 0, changed: 0, deleted: 0 };
  let reply: ((since: readonly string[]) => unknown) | undefined;
  let asked: string[];
  let schema: readonly object[];
  let endpoints: readonly { readonly current_state: string }[];

  beforeEach(async () => {
    [reply, asked, endpoints, schema] = [undefined, [], [], []];
    branches = [{ id: 'br-main', name: 'main', default: true, created_at: YESTERDAY }];
    quickPicks.length = 0;
    const { baseUrl } = await scriptService((call, query) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', history_retention_seconds: 86_400 }] };
      if (call.endsWith('/branches')) return { branches };
      if (call.endsWith('/start')) {
        asked.push('start');
        endpoints = [computeRecord('ep-one')];
        return { endpoint: endpoints[0], operations: [operationRecord(1)] };
      }
      if (call.includes('/operations/')) return { operation: operationRecord(1, { status: 'finished' }) };
      if (!call.endsWith('/changes')) return { snapshots: [], endpoints };
      if (query?.get('schema') === 'true') return { schema_changes: schema };
      const since = query?.get('since') ?? '';
      asked.push(since);
      return reply?.(since.split(',')) ?? new CodedError(404, 'not available');
    });
    model = await connectModel({ baseUrl });
    model.markers.add(ref(), { kind: 'program', text: 'migrate' }, Date.now() - 1000);
  });
  const ref = () => ({ account: accountId(model.account), projectId: 'shop', branchId: 'br-main' });
  const run = () => {
    const node = { kind: 'branch', projectId: 'shop', branchId: 'br-main' };
    return handleCommand(commandContext(model), 'hostedPostgres.undo', node);
  };
  const loaded = async () => {
    await until('the moments', async () => (quickPicks[0]?.items.length ?? 0) > 0);
    await until('the changes', async () => quickPicks[0]?.busy === false);
    return quickPicks[0]?.items.map((item) => / · ([^·]*since then.*)$/.exec(item.description ?? '')?.[1]);
  };

  it('says what has changed since each moment, with one request', async () => {
    const tables = [
      { ...change, name: 'customers', change: 'dropped' },
      { ...change, added: 3, changed: 12 },
      { ...change, schema: 'sales', name: 'items', deleted: 4 },
    ];
    reply = (since) => ({
      changes: [
        { since: since[0], tables, tables_count: 3 },
        { since: since[1], tables: [], tables_count: 0 },
      ],
    });
    const end = run();
    assert.deepEqual(await loaded(), [
      'since then: customers dropped; orders 3 added, 12 changed; sales.items 4 deleted',
      undefined,
      undefined,
      undefined,
      undefined,
      'no tables or rows changed since then',
      undefined,
    ]);
    const [marker] = model.markers.ofBranch(ref());
    assert.deepEqual(
      [asked.length, asked[0]?.split(',')[0], asked[0]?.split(',').length],
      [1, marker?.time, 5],
    );
    quickPicks[0]?.cancel();
    await end;
  });

  it('lists the changes of the schema that no marker names', async () => {
    const counts = { created: 2, altered: 1, dropped: 0, truncated: 0, migrations: 0 };
    const at = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString().replace('Z', '123Z');
    schema = [
      { ...counts, before: at(250) },
      { ...counts, before: at(200), migrations: 2, lsn: '0/15000A8' },
      { ...counts, before: at(100), migrations: 1 },
      { ...counts, before: at(90), created: 0, altered: 0 },
      { ...counts, before: at(0) },
    ];
    const end = run();
    await loaded();
    assert.deepEqual(quickPicks[0]?.items.map(({ label }) => label).slice(0, 6), [
      'Before migrate',
      '1 minute ago',
      'Before a change of the schema',
      'Before a migration',
      'Before 2 migrations',
      'Before changes of tables: 2 created, 1 altered',
    ]);
    // What has changed since then is asked with the position in the log, or else with the time there.
    const [first] = schema as { before: string }[];
    const sent = asked[0]?.split(',').filter((each) => each === first?.before || each.includes('/'));
    assert.deepEqual(sent, ['0/15000A8', first?.before]);
    quickPicks[0]?.cancel();
    await end;
  });

  const deletion = (seconds: number) => ({
    created: 0,
    altered: 0,
    dropped: 0,
    truncated: 0,
    migrations: 0,
    deleted: 9,
    before: new Date(Date.now() - seconds * 1000).toISOString(),
  });
  const active = async () => {
    await loaded();
    return quickPicks[0]?.active;
  };

  it('focuses the last one before a known change, and lists those without changes since at the end', async () => {
    schema = [{ ...deletion(400), tables: 2 }, deletion(200)];
    const minute = Date.now() - 61_000;
    const isLate = (since: string) => Date.parse(since) > minute;
    reply = (since) => ({
      changes: since.map((each) =>
        isLate(each)
          ? { since: each, tables: [], tables_count: 0 }
          : { since: each, tables: [{ ...change, deleted: 9 }], tables_count: 1 },
      ),
    });
    const end = run();
    assert.equal(await active(), 'Before 9 rows were deleted');
    assert.deepEqual(
      quickPicks[0]?.items.map(({ label }) => label),
      [
        'Before 9 rows were deleted',
        '5 minutes ago',
        'Before 9 rows of 2 tables were deleted',
        '1 hour ago',
        'As it was created',
        'no changes since then',
        'Before migrate',
        '1 minute ago',
        'Enter a time…',
      ],
    );
    quickPicks[0]?.cancel();
    await end;
  });

  it('says it if nothing has changed at all', async () => {
    reply = (since) => ({ changes: since.map((each) => ({ since: each, tables: [], tables_count: 0 })) });
    const end = run();
    await loaded();
    assert.equal(quickPicks[0]?.items[0]?.label, 'no changes since then');
    quickPicks[0]?.cancel();
    await end;
  });

  it('says what fits in a line', async () => {
    const names = ['orders', 'line_items_of_orders', 'a'.repeat(100), 'customers', 'products'];
    const tables = names.map((name) => ({ ...change, name, changed: 1 }));
    reply = ([since]) => ({ changes: [{ since, tables, tables_count: 17 }] });
    const end = run();
    assert.equal(
      (await loaded())?.[0],
      'since then: orders 1 changed; line_items_of_orders 1 changed; 15 more',
    );
    quickPicks[0]?.cancel();
    await end;
  });

  it('names databases if there are several', async () => {
    const tables = [
      { ...change, database: 'old', schema: null, name: 'old', change: 'dropped' },
      { ...change, added: 1 },
    ];
    reply = ([since]) => ({ changes: [{ since, tables, tables_count: 2 }] });
    const end = run();
    assert.equal((await loaded())?.[0], 'since then: database old dropped; app.orders 1 added');
    quickPicks[0]?.cancel();
    await end;
  });

  it('starts an idle compute first', async () => {
    endpoints = [computeRecord('ep-one', { current_state: 'idle' })];
    reply = ([since]) => ({ changes: [{ since, tables: [], tables_count: 0 }] });
    const end = run();
    await until('the request', async () => {
      model.clock.advance(1000);
      return asked.length > 1;
    });
    assert.ok((await loaded())?.includes('no tables or rows changed since then'));
    assert.deepEqual([asked.length, asked[0]], [2, 'start']);
    quickPicks[0]?.cancel();
    await end;
  });

  it('says nothing if the service does not offer it', async () => {
    const end = run();
    const items = await loaded();
    assert.ok(items?.length === 6 && items.every((changes) => changes === undefined));
    quickPicks[0]?.cancel();
    await end;
  });

  it('asks about the branch with the data from before an undo', async () => {
    branches.push({ id: 'br-kept', name: 'before-undo', created_at: YESTERDAY });
    model.markers.addUndo(ref(), { id: 'br-kept', name: 'before-undo' }, Date.now());
    const end = run();
    await loaded();
    const [marker] = model.markers.ofBranch({ ...ref(), branchId: 'br-kept' });
    assert.equal(asked[0]?.split(',')[0], `br-kept@${marker?.time}`);
    quickPicks[0]?.cancel();
    await end;
  });
});
