/**
 * Migrations for the seeded tables that tools make themselves: Django and Alembic from models before and afterwards, Rails from a
 * name. `scripts/rehearsedTools.ts` does with them what it does with those of `toolCases.ts`.
 */
import type { ToolCase } from './toolCases.ts';

const is = (title: string, up: ToolCase['up'], ...says: readonly string[]): ToolCase =>
  says.length === 0 ? { title, up } : { title, up, says };

const NICK = 'Loses 300 values of public.people.nick.';
const VISITS = 'Loses 91 rows of public.visits.';
const ORDERS = 'Blocks all reads and writes of public.orders.';

/** In Python, for Django. */
const djangoModel = (name: string, fields: string): string =>
  `class ${name.replace(/^./, (first) => first.toUpperCase())}(models.Model):
    id = models.IntegerField(primary_key=True)
    ${fields}
    class Meta:
        db_table = '${name}'
`;
/** In Python, for Alembic. */
const table = (name: string, columns: string): string =>
  `Table('${name}', metadata, Column('id', Integer, primary_key=True), ${columns})\n`;

export const MODEL_CASES: Readonly<Record<string, readonly ToolCase[]>> = {
  django: [
    is(
      'drops a column with values',
      [djangoModel('people', 'nick = models.TextField(null=True)'), djangoModel('people', '')],
      NICK,
    ),
    is('drops a table with rows', [djangoModel('visits', ''), ''], VISITS),
    is(
      'changes the type of a large table',
      [
        djangoModel('orders', 'total = models.IntegerField()'),
        djangoModel('orders', 'total = models.BigIntegerField()'),
      ],
      ORDERS,
    ),
    is('requires values, and fills them in', [
      djangoModel('people', 'nick = models.TextField(null=True)'),
      djangoModel('people', `nick = models.TextField(default='')`),
    ]),
    is('adds a column with a default', [
      djangoModel('orders', ''),
      djangoModel('orders', 'gift = models.BooleanField(default=False)'),
    ]),
    is('adds an index on few rows', [
      djangoModel('people', 'born = models.DateField(null=True)'),
      djangoModel('people', 'born = models.DateField(null=True, db_index=True)'),
    ]),
    is('creates a table', [
      djangoModel('orders', ''),
      djangoModel('orders', '') +
        djangoModel('invoices', 'order = models.ForeignKey(Orders, on_delete=models.CASCADE)'),
    ]),
  ],
  alembic: [
    is('drops a column with values', [table('people', `Column('nick', Text)`), table('people', '')], NICK),
    is('drops a table with rows', [table('visits', `Column('vet', Integer)`), ''], VISITS),
    is(
      'changes the type of a large table',
      [
        table('orders', `Column('total', Integer, nullable=False)`),
        table('orders', `Column('total', BigInteger, nullable=False)`),
      ],
      ORDERS,
    ),
    is('adds a column', [table('orders', ''), table('orders', `Column('channel', Text)`)]),
    is('adds a column with the time as default', [
      table('orders', ''),
      table('orders', `Column('made', DateTime, server_default=text('now()'))`),
    ]),
    is('adds an index on few rows', [
      table('people', `Column('born', Date)`),
      table('people', `Column('born', Date, index=True)`),
    ]),
    is('creates a table', [
      table('orders', ''),
      table('orders', '') + table('invoices', `Column('order_id', ForeignKey('orders.id'))`),
    ]),
  ],
  /** Arguments of its generator, and what it can't write from these. */
  rails: [
    is('drops a column with values', ['RemoveNickFromPeople nick:text', ''], NICK),
    is('drops a table with rows', ['DropVisits', 'drop_table :visits'], VISITS),
    is(
      'changes the type of a large table',
      ['ChangeTotal', 'change_column :orders, :total, :bigint'],
      ORDERS,
    ),
    is(
      'builds an index while writes wait',
      ['IndexLedger', 'add_index :ledger, :account'],
      'Blocks all writes of public.ledger.',
    ),
    is('adds a column', ['AddChannelToOrders channel:string', '']),
    is('adds a column with a default', [
      'AddGift',
      'add_column :orders, :gift, :boolean, null: false, default: false',
    ]),
    is('adds a column and an index on few rows', ['AddTeamToPeople team:string:index', '']),
    is('creates a table', ['CreateInvoices order:references total:integer', '']),
  ],
};
