/** An ORM (Drizzle) migrates a new database that the API created, with nothing but its connection URI, and uses it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { integer, pgEnum, pgTable, serial, text, timestamp, varchar } from 'drizzle-orm/pg-core';
import { findPooler } from '../../../src/service/postgres/config/programs.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { connectTo } from '../postgres/clients.ts';
import { BRANCH, branchApi, PROJECT } from './branchApi.ts';

const migrationsFolder = path.join(import.meta.dirname, 'migrations');

const status = pgEnum('order_status', ['open', 'paid', 'sent']);
const customers = pgTable('customers', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  email: varchar({ length: 256 }).notNull().unique(),
});
const orders = pgTable('orders', {
  id: serial().primaryKey(),
  customerId: integer('customer_id')
    .notNull()
    .references(() => customers.id, { onDelete: 'cascade' }),
  status: status().notNull().default('open'),
  placedAt: timestamp('placed_at', { withTimezone: true }).notNull().defaultNow(),
  note: text(),
});

const noPooler = findPooler() === undefined ? ' (skipped: PgBouncer is not installed)' : '';

describe('ORM on a new database', () => {
  let service: LocalService;
  const api = branchApi(() => service);
  before(async () => {
    service = await startLocalService();
    await api.suspend();
    assert.equal((await api.createRole('shop')).status, 201);
    assert.equal((await api.createDatabase('shop', 'shop')).status, 201);
  });
  after(async () => service.stop());

  async function migrateAndUse(uri: string, email: string): Promise<void> {
    const client = await connectTo(uri);
    try {
      const db = drizzle({ client });
      await migrate(db, { migrationsFolder });
      const placed = await db.transaction(async (transaction) => {
        const [customer] = await transaction.insert(customers).values({ email }).returning();
        assert(customer);
        return transaction
          .insert(orders)
          .values([{ customerId: customer.id }, { customerId: customer.id, status: 'paid', note: 'by card' }])
          .returning();
      });
      assert.deepEqual(
        placed.map((order) => [order.status, order.note]),
        [
          ['open', null],
          ['paid', 'by card'],
        ],
      );
      const paid = await db
        .select({ email: customers.email })
        .from(orders)
        .innerJoin(customers, eq(orders.customerId, customers.id))
        .where(eq(orders.status, 'paid'));
      assert(paid.some((row) => row.email === email));
    } finally {
      await client.end();
    }
  }

  it('migrates and uses it as its owner, which starts the compute', async () => {
    assert.equal(await api.state(), 'idle');
    await migrateAndUse(await api.uri('shop', 'shop'), 'direct@example.com');
    assert.equal(await api.state(), 'active');
  });

  it('finds the migration done and its rows after the compute was suspended', async () => {
    await api.suspend();
    await migrateAndUse(await api.uri('shop', 'shop'), 'again@example.com');
    const client = await connectTo(await api.uri('shop', 'shop'));
    const { rows } = await client.query('select count(*)::int as n from drizzle.__drizzle_migrations');
    await client.end();
    assert.deepEqual(rows, [{ n: 2 }]);
  });

  it(`works through the pooler${noPooler}`, async function () {
    if (noPooler !== '') return this.skip();
    const { items } = await service.client.listComputes(PROJECT);
    const id = items.find(({ branch_id }) => branch_id === BRANCH)?.id ?? '';
    await service.client.updateCompute(PROJECT, id, { pooler_enabled: true });
    await api.state();
    await migrateAndUse(await api.uri('shop', 'shop', { pooled: 'true' }), 'pooled@example.com');
  });
});
