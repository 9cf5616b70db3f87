/** Migrations that keep others waiting for a long time. */
import type { Dangerous } from './case.ts';

const READS_OF_ORDERS = 'Blocks all reads and writes of public.orders.';
const WRITES_OF_ORDERS = 'Blocks all writes of public.orders.';

export const LOCKS: readonly Dangerous[] = [
  {
    title: 'a wider type writes all rows again',
    sql: ['alter table orders alter column id type bigint'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: typeInSteps'],
  },
  {
    title: 'a default that differs for each row writes all rows again',
    sql: ['alter table orders add column made timestamptz default clock_timestamp()'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: filledColumn'],
  },
  {
    title: 'an identity column numbers all rows',
    sql: ['alter table orders add column number int generated always as identity'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: filledColumn'],
  },
  {
    title: 'a stored generated column writes all rows again',
    sql: ['alter table orders add column twice int generated always as (total * 2) stored'],
    says: [READS_OF_ORDERS],
  },
  {
    title: 'a domain with a condition writes all rows again, although its default is constant',
    sql: ['alter table orders add column rating score default 1'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: domainColumn'],
  },
  {
    title: 'a shorter length writes all rows again',
    sql: ['alter table orders alter column note type varchar(40)'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: typeInSteps'],
  },
  {
    title: 'a table without a log is written again',
    sql: ['alter table orders set unlogged'],
    says: [READS_OF_ORDERS],
  },
  {
    title: 'ordering rows writes them again',
    sql: ['cluster orders using orders_pkey'],
    says: [READS_OF_ORDERS],
  },
  { title: 'a full vacuum writes a table again', sql: ['vacuum full orders'], says: [READS_OF_ORDERS] },
  {
    title: 'an index is built while writes wait',
    sql: ['create index on orders (pause(person))'],
    says: [WRITES_OF_ORDERS],
    safer: ['public.orders: concurrentIndex'],
  },
  {
    title: 'indexes are built again, and queries of their table need their locks',
    sql: ['reindex table orders'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: concurrentReindex'],
  },
  {
    title: 'one index is built again, and queries of its table need its lock',
    sql: ['reindex index orders_total'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: concurrentReindex'],
  },
  {
    title: 'a condition is checked for all rows',
    sql: ['alter table orders add check (pause(total) > 0)'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: notValid'],
  },
  {
    title: 'a condition is checked in the transaction that adds it, which defeats its two steps',
    sql: [
      'begin',
      'alter table orders add constraint more check (pause(total) > 0) not valid',
      'alter table orders validate constraint more',
      'commit',
    ],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: notValid'],
  },
  {
    title: 'a lock is taken first, and the work comes later',
    sql: [
      'begin',
      'alter table people add column city text',
      'update orders set total = total + 1',
      'commit',
    ],
    says: ['Blocks all reads and writes of public.people.', 'Blocks writes of 400 rows of public.orders.'],
    safer: ['public.orders: batches', 'public.people: ownTransaction'],
  },
  {
    title: 'a column is added, filled and made required in one transaction',
    sql: [
      'begin',
      'alter table orders add column paid int',
      'update orders set paid = total',
      'alter table orders alter column paid set not null',
      'commit',
    ],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: ownTransaction'],
  },
  {
    title: 'one update changes all rows, so that no other session can change one',
    sql: ['update orders set total = total + 1'],
    says: ['Blocks writes of 400 rows of public.orders.'],
    safer: ['public.orders: batches'],
  },
  {
    title: 'a materialized view is refreshed',
    sql: ['refresh materialized view totals'],
    says: ['Blocks all reads and writes of public.totals.'],
    safer: ['public.totals: concurrentRefresh'],
  },
  {
    title: 'an index for a large table is built while writes wait',
    sql: ['create index ledger_account on ledger (account)'],
    says: ['Blocks all writes of public.ledger.'],
    safer: ['public.ledger: concurrentIndex'],
  },
  {
    title: 'a unique constraint builds an index while reads wait',
    sql: ['alter table ledger add unique (account)'],
    says: ['Blocks all reads and writes of public.ledger.'],
    safer: ['public.ledger: uniqueIndex'],
  },
  {
    title: 'a primary key builds an index while reads wait',
    sql: ['alter table ledger add primary key (account)'],
    says: ['Blocks all reads and writes of public.ledger.'],
    safer: ['public.ledger: uniqueIndex'],
  },
  {
    title: 'a foreign key keeps others from writing both tables',
    sql: ['alter table entries add foreign key (account) references accounts'],
    says: ['Blocks all writes of public.accounts.', 'Blocks all writes of public.entries.'],
    safer: ['public.accounts: notValid', 'public.entries: notValid'],
  },
  {
    title: 'a new partition makes Postgres read the default one',
    sql: [`alter table measures attach partition measures_1 for values from ('1') to ('10')`],
    says: [
      'Blocks all reads and writes of public.measures_1.',
      'Blocks all reads and writes of public.measures_rest.',
    ],
  },
  {
    title: 'a trigger is created before a long change of the same transaction',
    sql: [
      'begin',
      'create trigger changed before insert on people for each row execute function changed()',
      'refresh materialized view totals',
      'commit',
    ],
    says: ['Blocks all reads and writes of public.totals.', 'Blocks all writes of public.people.'],
    safer: ['public.people: ownTransaction', 'public.totals: concurrentRefresh'],
  },
  {
    title: 'a foreign key goes before long work: the table that it refers to is locked as well',
    sql: [
      'begin',
      'alter table pets drop constraint pets_owner_fkey',
      'refresh materialized view totals',
      'commit',
    ],
    says: [
      'Blocks all reads and writes of public.owners.',
      'Blocks all reads and writes of public.pets.',
      'Blocks all reads and writes of public.totals.',
    ],
    safer: [
      'public.owners: ownTransaction',
      'public.pets: ownTransaction',
      'public.totals: concurrentRefresh',
    ],
  },
  {
    title: 'a table is locked for as long as the work takes',
    sql: ['begin', 'lock table people in exclusive mode', 'refresh materialized view totals', 'commit'],
    says: ['Blocks all reads and writes of public.totals.', 'Blocks all writes of public.people.'],
    safer: ['public.totals: concurrentRefresh'],
  },
  {
    title: 'rows are checked for missing values, and by a check that takes time',
    sql: ['alter table orders alter person set not null, add check (pause(person) > 0)'],
    says: [READS_OF_ORDERS],
    safer: ['public.orders: checkedNotNull', 'public.orders: notValid'],
  },
  {
    title: 'an index of a partitioned table is built in all partitions',
    sql: ['create index on measures (id)'],
    says: ['Blocks all writes of public.measures.', 'Blocks all writes of public.measures_rest.'],
    safer: ['public.measures: partitionIndexes', 'public.measures_rest: concurrentIndex'],
  },
];
