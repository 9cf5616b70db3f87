/**
 * Migrations of real tools for the seeded tables. `scripts/rehearsedTools.ts` rehearses each by the tool's own command, and writes
 * what the tool has sent to `toolStatements.json`.
 */
export interface ToolCase {
  readonly title: string;
  /** What the tool's file has: a body in JavaScript; for Drizzle, tables before and afterwards, from which it makes the file. */
  readonly up: string | readonly [before: string, after: string];
  readonly says?: readonly string[];
}

const is = (title: string, up: ToolCase['up'], ...says: readonly string[]): ToolCase =>
  says.length === 0 ? { title, up } : { title, up, says };

const NICK = 'Loses 300 values of public.people.nick.';
const ORDERS = 'Blocks all reads and writes of public.orders.';

const table = (name: string, columns: string, extra = ''): string =>
  `export const ${name} = t.pgTable('${name}', { ${columns} }${extra});`;
const people = (columns: string, extra = ''): string =>
  table('people', `id: t.integer().primaryKey(), ${columns}`, extra);
const orders = (columns: string, extra = ''): string =>
  table('orders', `id: t.integer().primaryKey(), ${columns}`, extra);

export const TOOL_CASES: Readonly<Record<string, readonly ToolCase[]>> = {
  knex: [
    is('drops a column with values', `k.schema.alterTable('people', (t) => t.dropColumn('nick'))`, NICK),
    is('drops a table with rows', `k.schema.dropTable('visits')`, 'Loses 91 rows of public.visits.'),
    is(
      'changes the type of a large table',
      `k.schema.alterTable('orders', (t) => t.bigInteger('total').notNullable().alter())`,
      ORDERS,
    ),
    is(
      'cuts values off',
      `k.schema.alterTable('people', (t) => t.date('joined').alter())`,
      'Changes values of public.people.joined: timestamp with time zone → date.',
    ),
    is('adds a column', `k.schema.alterTable('orders', (t) => t.string('channel'))`),
    is(
      'adds a column with a default',
      `k.schema.alterTable('orders', (t) => t.boolean('gift').notNullable().defaultTo(false))`,
    ),
    is('adds timestamps', `k.schema.alterTable('orders', (t) => t.timestamps(true, true))`),
    is(
      'creates a table',
      `k.schema.createTable('invoices', (t) => { t.increments(); t.integer('order_id').references('orders.id'); t.timestamps(); })`,
    ),
    is('renames a column', `k.schema.alterTable('orders', (t) => t.renameColumn('note', 'remark'))`),
    is('adds an index on few rows', `k.schema.alterTable('people', (t) => t.index(['born']))`),
    is('drops a column without values', `k.schema.alterTable('people', (t) => t.dropColumn('unused'))`),
    is('adds a unique constraint on few rows', `k.schema.alterTable('people', (t) => t.unique(['height']))`),
  ],
  'node-pg-migrate': [
    is('drops a column with values', `pgm.dropColumn('people', 'nick')`, NICK),
    is('drops a table with rows', `pgm.dropTable('pets')`, 'Loses 100 rows of public.pets.'),
    is(
      'builds an index while writes wait',
      `pgm.createIndex('ledger', 'account')`,
      'Blocks all writes of public.ledger.',
    ),
    is(
      'adds a unique constraint on a large table',
      `pgm.addConstraint('ledger', 'ledger_key', { unique: 'account' })`,
      'Blocks all reads and writes of public.ledger.',
    ),
    is(
      'adds a default that differs for each row',
      `pgm.addColumn('orders', { made: { type: 'timestamptz', default: pgm.func('clock_timestamp()') } })`,
      ORDERS,
    ),
    is(
      'builds an index concurrently',
      `pgm.noTransaction(); pgm.createIndex('ledger', 'account', { concurrently: true })`,
    ),
    is('adds a column', `pgm.addColumn('orders', { channel: { type: 'text' } })`),
    is(
      'adds a column with a constant default',
      `pgm.addColumn('orders', { gift: { type: 'bool', notNull: true, default: false } })`,
    ),
    is(
      'creates a table',
      `pgm.createTable('invoices', { id: 'id', order_id: { type: 'int', references: 'orders' } })`,
    ),
    is('renames a table', `pgm.renameTable('orders', 'purchases')`),
    is('lengthens a text', `pgm.alterColumn('orders', 'note', { type: 'varchar(200)' })`),
    is('adds a value to a type', `pgm.addTypeValue('state', 'back')`),
    is('creates a view', `pgm.createView('paid', {}, 'select * from orders')`),
  ],
  typeorm: [
    is('drops a column with values', `runner.dropColumn('people', 'nick')`, NICK),
    is('empties a table', `runner.clearTable('visits')`, 'Loses 91 rows of public.visits.'),
    is(
      'deletes rows',
      `runner.manager.createQueryBuilder().delete().from('visits').where('vet is null').execute()`,
      'Loses 1 row of public.visits.',
    ),
    is(
      'adds a primary key on a large table',
      `runner.query('ALTER TABLE ledger ADD PRIMARY KEY (account)')`,
      'Blocks all reads and writes of public.ledger.',
    ),
    is(
      'adds a column',
      `runner.addColumn('people', new TableColumn({ name: 'city', type: 'text', isNullable: true }))`,
    ),
    is(
      'adds a column with a constant default',
      `runner.addColumn('orders', new TableColumn({ name: 'gift', type: 'boolean', default: false }))`,
    ),
    is(
      'creates a table',
      `runner.createTable(new Table({ name: 'invoices', columns: [{ name: 'id', type: 'int', isPrimary: true, isGenerated: true, generationStrategy: 'increment' }] }))`,
    ),
    is('renames a column', `runner.renameColumn('pets', 'name', 'title')`),
    is(
      'adds an index on few rows',
      `runner.createIndex('people', new TableIndex({ name: 'people_born', columnNames: ['born'] }))`,
    ),
    is(
      'adds a foreign key for few rows',
      `runner.createForeignKey('orders', new TableForeignKey({ columnNames: ['person'], referencedTableName: 'people', referencedColumnNames: ['id'] }))`,
    ),
    is('drops an index', `runner.query('DROP INDEX people_name')`),
    is('drops an empty table', `runner.dropTable('empty')`),
  ],
  drizzle: [
    is('drops a column with values', [people('nick: t.text()'), people('')], NICK),
    is(
      'drops a table with rows',
      [table('visits', 'id: t.integer().primaryKey()'), ''],
      'Loses 91 rows of public.visits.',
    ),
    is(
      'changes the type of a large table',
      [orders('total: t.integer()'), orders('total: t.bigint({ mode: "number" })')],
      ORDERS,
    ),
    is(
      'requires values that are missing',
      [people('nick: t.text()'), people('nick: t.text().notNull()')],
      'Fails at “ALTER TABLE "people" ALTER COLUMN "nick" SET NOT NULL;”: column "nick" of relation "people" contains null values',
    ),
    is('adds a column', [orders(''), orders('channel: t.text()')]),
    is('adds a column with a constant default', [
      orders(''),
      orders('gift: t.boolean().notNull().default(false)'),
    ]),
    is('adds a column with the time as default', [
      orders(''),
      orders('made: t.timestamp().defaultNow().notNull()'),
    ]),
    is('creates a table', [
      orders(''),
      `${orders('')} export const invoices = t.pgTable('invoices', { id: t.serial().primaryKey(), order_id: t.integer().references(() => orders.id) });`,
    ]),
    is('adds an index on few rows', [
      people('born: t.date()'),
      people('born: t.date()', `, (table) => [t.index('people_born').on(table.born)]`),
    ]),
    is('adds a foreign key for few rows', [
      `${people('')} ${orders('person: t.integer()')}`,
      `${people('')} ${orders('person: t.integer().references(() => people.id)')}`,
    ]),
    is('drops a default', [orders(`state: t.text().default('paid')`), orders('state: t.text()')]),
    is('allows missing values', [orders('total: t.integer().notNull()'), orders('total: t.integer()')]),
    is(
      'builds an index concurrently, in its transaction',
      [
        people('born: t.date()'),
        people('born: t.date()', `, (table) => [t.index('people_born').on(table.born).concurrently()]`),
      ],
      'Fails at “CREATE INDEX CONCURRENTLY "people_born" ON "people" USING btree ("born");”: CREATE INDEX CONCURRENTLY cannot run inside a transaction block',
    ),
  ],
};
