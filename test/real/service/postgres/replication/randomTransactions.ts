/** Random changes of two tables with keys, for consumers of changes. */
import type pg from 'pg';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { query } from '../clients.ts';

export const TABLES = [
  `create table items (id int primary key, word text, big text, changed int not null default 0)`,
  `create table others (id int, part text, amount numeric, primary key (id, part))`,
];

/** All rows of both tables, in order. */
export const content = async (uri: string): Promise<string> =>
  JSON.stringify(
    await query(
      uri,
      `select json_agg(i order by id)::text || coalesce((select json_agg(o order by id, part)::text from others o), '') from items i`,
    ),
  );

/** @returns what makes transactions, the same for a seed. Some are rolled back, and large values are stored apart. */
export function randomTransactions(seed = RANDOM_SEED) {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const statement = (): string => {
    const id = below(60);
    switch (below(8)) {
      case 0:
        return `delete from items where id = ${id}`;
      case 1:
        return `insert into items select ${id}, 'big', string_agg(md5((n * ${id + 1})::text), '') from generate_series(1, 400) n on conflict (id) do update set big = excluded.big`;
      case 2:
        return `update items set id = id + 1000 where id = ${id} and not exists (select from items where id = ${id + 1000})`;
      case 3:
        return below(10) === 0 ? 'truncate others' : `delete from others where id % 7 = ${id % 7}`;
      case 4:
        return `insert into others values (${id}, 'it''s ${below(5)}', ${random()}) on conflict do nothing`;
      case 5:
        return `insert into others select n, 'many', n from generate_series(${id}, ${id + 300}) n on conflict (id, part) do update set amount = excluded.amount + 1`;
      default:
        return `insert into items values (${id}, 'word ${below(1000)}', null) on conflict (id) do update set word = excluded.word, changed = items.changed + 1`;
    }
  };
  return async (client: pg.Client): Promise<void> => {
    await client.query('begin');
    for (let count = below(6); count >= 0; count -= 1) await client.query(statement());
    await client.query(below(6) === 0 ? 'rollback' : 'commit');
  };
}
