import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { branchCalls, storageOf } from '../../../../helpers/branchCalls.ts';
import { connectionUri } from '../../../../helpers/connectionUri.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../../helpers/localService.ts';
import { CHECKOUT, FREE, MAIN, PROJECT } from '../../controlPlane/sampleProject.ts';
import { query } from '../clients.ts';

const TABLES = `select string_agg(tablename, ' ' order by tablename) from pg_tables where schemaname = 'public'`;
const COUNTS = `select (select count(*)::int from customers), (select count(*)::int from products),
  (select count(*)::int from orders), (select count(*)::int from order_items)`;
const OWNERS = `select distinct tableowner::text from pg_tables where schemaname = 'public'`;
const INDEXES = `select string_agg(indexname, ' ' order by indexname) from pg_indexes where indexname like 'orders%_idx'`;

describe('The sample account', () => {
  let service: LocalService;
  const dataDir = temporaryFolder();
  const uriOf = async (branchId: string) => {
    const { items } = await service.client.listComputes(PROJECT);
    const primary = items.find(({ branch_id, type }) => branch_id === branchId && type === 'read_write');
    const { id: computeId = '', host = '' } = primary ?? {};
    const login = { branchId, computeId, host, role: 'app_owner', database: 'app', pooled: false };
    return connectionUri(service.client, PROJECT, login);
  };
  beforeEach(async () => {
    service = await startLocalService({ dataDir });
  });

  it('has tables and rows of the branch’s role, which survive a restart', async () => {
    const uri = await uriOf(MAIN);
    assert.deepEqual(await query(uri, TABLES), ['customers order_items orders products']);
    assert.deepEqual(await query(uri, OWNERS), ['app_owner']);
    const counts = await query(uri, COUNTS);
    assert.deepEqual(counts, [40, 12, 90, 158]);
    await query(
      uri,
      "insert into customers (name, email, city, created_at) values ('New', 'n@e.c', 'Rome', now())",
    );
    await service.stop();

    service = await startLocalService({ dataDir });
    assert.deepEqual(await query(await uriOf(MAIN), COUNTS), [41, 12, 90, 158]);
  });

  it('has a branch that differs in schema and rows', async () => {
    const [main, rewrite] = [await uriOf(MAIN), await uriOf(CHECKOUT)];
    assert.deepEqual(await query(rewrite, TABLES), ['customers order_items orders payments products']);
    assert.deepEqual(await query(main, INDEXES), ['orders_customer_id_idx orders_ordered_at_idx']);
    assert.deepEqual(await query(rewrite, INDEXES), ['orders_customer_id_idx']);
    assert.deepEqual(
      await query(rewrite, 'select count(*)::int from orders where payment_method is null'),
      [0],
    );
    const orders = 'select array_agg(id order by id) from orders';
    const [before, after] = [await query(main, orders), await query(rewrite, orders)] as [
      [number[]],
      [number[]],
    ];
    assert.deepEqual(
      after[0].filter((id) => !before[0].includes(id)),
      [91, 92, 93],
    );
    assert.deepEqual(
      before[0].filter((id) => !after[0].includes(id)),
      [6, 12],
    );
  });

  it('has history from its first byte, which leads back to how each branch was created', async () => {
    const api = branchCalls(service);
    const uri = await uriOf(MAIN);
    await query(uri, 'delete from order_items');
    const changes = await api.send<{ schema_changes: object[] }>(
      'GET',
      `/${PROJECT}/branches/${MAIN}/changes?schema=true`,
    );
    assert.deepEqual(
      changes.schema_changes.map((each) => ({ ...each, before: '', lsn: '' })),
      [
        {
          before: '',
          lsn: '',
          created: 0,
          altered: 0,
          dropped: 0,
          truncated: 0,
          migrations: 0,
          deleted: 158,
          tables: 1,
        },
      ],
    );
    const { branches } = await api.send<{ branches: { id: string; created_at: string }[] }>(
      'GET',
      `/${PROJECT}/branches`,
    );
    const createdAt = (id: string) => branches.find((branch) => branch.id === id)?.created_at;
    // The second one has no data yet.
    const rows = [
      [MAIN, 158],
      [CHECKOUT, 155],
    ] as const;
    for (const [parent_id, expected] of rows) {
      const branch = { parent_id, parent_timestamp: createdAt(parent_id) };
      const created = await api.createBranch(PROJECT, branch);
      const [items] = await query(api.uri(created), 'select count(*)::int from order_items');
      assert.equal(items, expected, parent_id);
    }
    const before = new Date(Date.parse(createdAt(MAIN) ?? '') - 1000).toISOString();
    await api.send(
      'POST',
      `/${PROJECT}/branches`,
      { branch: { parent_id: MAIN, parent_timestamp: before } },
      422,
    );
  });

  it('creates no data before it is needed, and has none in an older data directory', async () => {
    const folder = temporaryFolder();
    const first = await startLocalService({ dataDir: folder });
    const storage = storageOf(first);
    const api = branchCalls(first);
    await query(api.uri(await api.createBranch(PROJECT)), 'select 1');
    assert(!readdirSync(path.join(storage, 'branches')).includes(FREE));
    await first.stop();
    rmSync(path.join(storage, 'sample.json'));

    const second = await startLocalService({ dataDir: folder });
    const { sql } = await branchCalls(second).send<{ sql: string }>(
      'GET',
      `/${PROJECT}/branches/${FREE}/schema?db_name=app`,
    );
    await second.stop();
    assert.doesNotMatch(sql, /CREATE TABLE/);
  });
});
