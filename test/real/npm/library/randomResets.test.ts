/** `db.reset()`: random writes of several sessions to databases with random schemas. All rows, definitions and next values are compared. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { withDatabase } from '../../../../src/api/addresses/databaseUrl.ts';
import { saveBeginning } from '../../../../src/npm/library/beginning.ts';
import { copyDatabase } from '../../../../src/npm/library/copyDatabase.ts';
import { DatabaseReset, type WithAdmin } from '../../../../src/npm/library/reset.ts';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../helpers/seed.ts';
import { connectTo } from '../../service/postgres/clients.ts';
import { startControlPlane, type ControlPlane } from '../../service/postgres/controlPlane.ts';
import { randomSchema, type RandomSchema } from './randomSchema.ts';
import { contents } from './resetShop.ts';

const RESETS = 20;

describe('db.reset() of random schemas', () => {
  let service: ControlPlane;
  let server: string;
  let admin: pg.Client;
  const withAdmin: WithAdmin = async (work) => work(admin);
  const at = async (database: string): Promise<pg.Client> => {
    const client = await connectTo(withDatabase(server, database));
    // A reset may end it.
    return client.on('error', () => undefined);
  };
  before(async () => {
    service = await startControlPlane();
    server = await service.uri(await service.create());
    admin = await at('postgres');
  });

  const create = async ({ statements }: RandomSchema, name: string) => {
    await admin.query(`create database ${name}`);
    const client = await at(name);
    for (const sql of statements)
      await client.query(sql).catch(({ message }: Error) => assert.fail(`${message}: ${sql}`));
    await client.end();
    await copyDatabase(admin, name, `${name}_template`);
    await admin.query('select lo_unlink(oid) from pg_largeobject_metadata');
    await saveBeginning(admin, withDatabase(server, name), `${name}_template`);
    return new DatabaseReset(withDatabase(server, name), `${name}_template`, `${name}_next`);
  };

  for (let round = 0; round < roundsOf(2, 50); round += 1) {
    const seed = RANDOM_SEED + round;
    it(`is exact with seed ${seed}`, async () => {
      const random = randomNumbers(seed);
      const schema = randomSchema(random);
      const name = `random_${round}`;
      const reset = await create(schema, name);
      const reasons = new Map<string, number>();
      const connect = async () => Promise.all([at(name), at(name), at(name)]);
      let clients = await connect();
      const state = async () => [await contents(clients[0] ?? assert.fail()), await values(schema, clients)];
      const expected = await state();
      await reset.run(withAdmin);
      for (let count = 0; count < RESETS; count += 1) {
        const log: string[] = [];
        for (let left = 1 + random() * 8; left > 0; left -= 1) {
          const client = clients[Math.floor(random() * clients.length)] ?? assert.fail();
          const sql = schema.write(random);
          const message = await client.query(sql).then(
            () => '',
            (error: Error) => ` -- ${error.message}`,
          );
          if (message !== '') await client.query('rollback');
          log.push(sql + message);
        }
        const obstacle = await reset.run(withAdmin);
        if (obstacle !== undefined) {
          const reason = obstacle.reason.replace(/ \(.*/, '');
          reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
          await Promise.all(clients.map(async (client) => client.end().catch(() => undefined)));
          clients = await connect();
        }
        assert.deepEqual(await state(), expected, [...schema.statements, '-- test', ...log].join(';\n'));
        await reset.run(withAdmin);
      }
      await Promise.all(clients.map(async (client) => client.end()));
      await reset.close();
      for (const each of [name, `${name}_template`]) await admin.query(`drop database ${each} with (force)`);
      console.log(`${RESETS} resets, slow: ${JSON.stringify(Object.fromEntries(reasons))}`);
    });
  }

  /** What each session gets next. */
  const values = async ({ sequences }: RandomSchema, clients: readonly pg.Client[]): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (const client of clients)
      for (const sequence of sequences)
        found.push((await client.query('select nextval($1)', [sequence])).rows[0]);
    return found;
  };
});
