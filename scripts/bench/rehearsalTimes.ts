/** Whether the times that a rehearsal reports are those of the migration: twenty of them on 1 GB, rehearsed and applied in turns. */
import { startRehearsals, type Rehearsals } from '../../test/real/rehearsal/rehearsals.ts';
import { connectTo, runStatements } from '../../test/real/service/postgres/clients.ts';
import { measureInTurns, median, timeOf, type Result } from './result.ts';

const ROUNDS = 5;
/** Rows of about 300 bytes, with their index. */
const ROWS = 2_600_000;
const GOAL = 18;
/** A time may differ by this part, or by these milliseconds. */
const [TOLERANCE, TOLERATED] = [0.25, 20];

const SCHEMA = [
  'create table customers (id int primary key, name text not null, email text)',
  `insert into customers select g, 'name ' || g, 'e' || g || '@example.org' from generate_series(1, 100000) g`,
  'create table orders (id int primary key, customer int not null, total int not null, note text, created timestamptz not null)',
  `insert into orders select g, 1 + g % 100000, g % 1000, repeat('x', 150), timestamptz '2026-01-01' + g * interval '1 second'
    from generate_series(1, ${ROWS}) g`,
  'create table lines (id int primary key, ordered int not null, product text)',
  `insert into lines select g, g, 'p' || g % 100 from generate_series(1, ${ROWS / 4}) g`,
  'vacuum analyze',
];
const POSITIVE = 'alter table orders add constraint positive check (total >= 0)';
const MIGRATIONS: readonly (readonly string[])[] = [
  ['alter table orders add column age int'],
  ['alter table orders add column age int not null default 7'],
  ['alter table orders add column code uuid default gen_random_uuid()'],
  ['alter table orders alter column total type bigint'],
  ['alter table orders alter column note type varchar(200)'],
  ['alter table orders alter column note set not null'],
  [POSITIVE],
  [`${POSITIVE} not valid`, 'alter table orders validate constraint positive'],
  ['alter table orders add foreign key (customer) references customers'],
  ['create index on orders (customer)'],
  ['create index concurrently orders_customer on orders (customer)'],
  ['create unique index on customers (email)'],
  ['create index on orders (created, total)'],
  ['update orders set total = total + 1 where id % 10 = 0'],
  ['delete from lines where id % 5 = 0'],
  ['alter table orders drop column note'],
  ['drop table lines'],
  [
    'begin',
    'alter table lines add column quantity int not null default 1',
    'create index on lines (ordered)',
    'commit',
  ],
  ['create materialized view sums as select customer, sum(total) from orders group by customer'],
  ['alter table customers rename name to full_name', 'create index on customers (full_name)'],
];

export async function measure(): Promise<readonly Result[]> {
  const rehearsals = await startRehearsals();
  try {
    await runStatements(rehearsals.url, ...SCHEMA);
    const missed: string[] = [];
    const times: string[] = [];
    for (const migration of MIGRATIONS) {
      const { rehearsed, applied } = await compare(rehearsals, migration);
      const differs = Math.abs(rehearsed - applied) > Math.max(TOLERATED, applied * TOLERANCE);
      const text = `${Math.round(rehearsed)} and ${Math.round(applied)} ms: ${migration.join('; ')}`;
      times.push(text);
      if (differs) missed.push(text);
    }
    console.log(times.join('\n'));
    return [
      {
        what: 'migrations of 1 GB whose time is as rehearsed',
        ours: String(MIGRATIONS.length - missed.length),
        baseline: String(MIGRATIONS.length),
        ratio: undefined,
        goal: `≥ ${GOAL}, within ${TOLERANCE * 100} % or ${TOLERATED} ms`,
        met: MIGRATIONS.length - missed.length >= GOAL,
        note: missed.join(' | '),
      },
    ];
  } finally {
    await rehearsals.service.stop();
  }
}

/** Returns the medians of what a rehearsal reports and what a client measures, each on a new branch, in milliseconds. */
async function compare(rehearsals: Rehearsals, migration: readonly string[]) {
  const pairs = await measureInTurns(ROUNDS, 0, {
    ours: async () => {
      const run = async ({ url }: { readonly url: string }) => {
        await apply(url, migration);
        return 0;
      };
      const { statements } = await rehearsals.rehearse(run);
      return statements.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    },
    baseline: async () => {
      const copy = await rehearsals.copy();
      const time = await apply(copy.url, migration);
      await rehearsals.remove(copy);
      return time;
    },
  });
  return { rehearsed: median(pairs.ours), applied: median(pairs.baseline) };
}

/** @returns the milliseconds that all statements took together, for the client */
async function apply(url: string, migration: readonly string[]): Promise<number> {
  const client = await connectTo(url);
  try {
    return await timeOf(async () => {
      for (const sql of migration) await client.query(sql);
    });
  } finally {
    await client.end();
  }
}
