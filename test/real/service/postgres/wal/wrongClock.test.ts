/** Moments of a branch after the clock of the machine was wrong: times in the log aren't ordered then, positions are. */
import assert from 'node:assert/strict';
import path from 'node:path';
import type { Moment } from '../../../../../src/service/core/branchHistory.ts';
import { parseLsn } from '../../../../../src/service/core/lsn.ts';
import { query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { SERVER_TIME } from '../keepHistory.ts';
import { setClock } from './setClock.ts';

const ID = 'br-clock';
const HOUR = 3_600_000_000;

describe('After the clock was wrong for a while', () => {
  let service: ControlPlane;
  let created = 0;
  /** Before each of three rows, and after them. */
  let moments: { readonly lsn: string; readonly timestamp: string }[];

  const sql = async (text: string) => {
    const compute = service.computes.get('ep-clock') ?? assert.fail();
    return query(await service.uri(compute), text);
  };
  const now = async () => {
    const [lsn, timestamp] = await sql(`select pg_current_wal_insert_lsn()::text, ${SERVER_TIME}`);
    return { lsn: String(lsn), timestamp: String(timestamp) };
  };
  const pastOf = async (moment: Moment): Promise<string> => {
    const id = `br-past${(created += 1)}`;
    await service.engine.createBranch({ id, parentId: ID, moment });
    return service.uri(await service.create({ id: `ep-past${created}`, branchId: id }));
  };
  const rowsAt = async (moment: Moment): Promise<unknown[]> =>
    query(await pastOf(moment), 'select id from item order by id');

  beforeEach(async () => {
    service = await startControlPlane();
    await service.engine.createBranch({ id: ID, keepsHistory: true });
    await service.create({ id: 'ep-clock', branchId: ID });
    await sql('create table item (id int)');
    moments = [await now()];
    for (const id of [1, 2, 3]) {
      await sql(`insert into item values (${id})`);
      moments.push(await now());
    }
  });

  /** While the second row was inserted. */
  const setWrong = async (by: number): Promise<void> => {
    await service.engine.suspend('ep-clock');
    const { startLsn = '' } = (await service.engine.history(ID)) ?? {};
    const [start = 0, from = 0, to = 0] = [startLsn, moments[1]?.lsn, moments[2]?.lsn].map((lsn) =>
      parseLsn(lsn ?? ''),
    );
    setClock(path.join(service.dataDir, 'postgres/branches', ID, 'data'), { start, from, to }, by);
  };
  const at = (index: number) => moments[index] ?? assert.fail();

  it('a time after it has all rows until then, if the clock was wrong by hours', async () => {
    await setWrong(3 * HOUR);
    assert.deepEqual(await rowsAt({ timestamp: at(3).timestamp }), [1, 2, 3]);
    assert.deepEqual(await rowsAt({ timestamp: at(1).timestamp }), [1]);
  });

  /** Rows that were added since a moment. */
  const addedSince = async (given: readonly Moment[]) => {
    const found = await service.engine.changesSince(
      ID,
      given.map((moment) => ({ ...moment, branchId: ID })),
    );
    return found.map((tables) => tables && (tables.find(({ name }) => name === 'item')?.added ?? 0));
  };
  const transactions = async () => {
    const [database, table, file] = await sql(
      `select d.oid::int, t.oid::int, pg_relation_filenode(t.oid)::int from pg_class t, pg_database d
      where t.oid = 'item'::regclass and datname = current_database()`,
    );
    const numbers = { database: Number(database), table: Number(table), file: Number(file) };
    return (await service.engine.tableTransactions(ID, numbers)) ?? [];
  };

  for (const hours of [3, -3])
    it(`listed moments have exactly their data, and exact counts since then: ${hours} hours`, async () => {
      await setWrong(hours * HOUR);
      const listed = (await transactions()).map(({ lsn = '' }) => ({ lsn }));
      assert.deepEqual(await addedSince(listed), [3, 2, 1]);
      for (const [index, moment] of listed.entries())
        assert.deepEqual(await rowsAt(moment), [1, 2, 3].slice(0, index));
    });

  it('changes of the schema have their positions', async () => {
    await sql('create table other ()');
    moments = [at(0), at(3), await now()];
    await sql('create table last ()');
    await setWrong(3 * HOUR);
    await sql('select 1');
    const listed = await service.engine.schemaChanges(ID);
    const tables = `select string_agg(relname, ' ' order by oid) from pg_class where relname in ('item', 'other', 'last')`;
    const found = [];
    for (const { lsn = '' } of listed) {
      const past = await pastOf({ lsn });
      found.push(...(await query(past, tables)));
    }
    assert.deepEqual(found, [null, 'item', 'item other']);
  });

  it('changes since a time are those since its position', async () => {
    await setWrong(3 * HOUR);
    await sql('select 1');
    const times = moments.map(({ timestamp }) => ({ timestamp }));
    assert.deepEqual(await addedSince(times), [3, 2, 2, 0]);
  });

  it('changes since a time that the clock showed twice are not known', async () => {
    await setWrong(-3 * HOUR);
    await sql('select 1');
    const times = moments.map(({ timestamp }) => ({ timestamp }));
    assert.deepEqual(await addedSince(times), [undefined, 1, 1, 0]);
  });

  it('a time that the clock showed twice is rejected with the positions of both', async () => {
    await setWrong(-3 * HOUR);
    const { timestamp } = at(0);
    const error = await service.engine.history(ID, timestamp).then(
      () => assert.fail(),
      (reason: unknown) => String(reason),
    );
    assert.match(error, /The clock of this machine has gone back/);
    await assert.rejects(rowsAt({ timestamp }), /has gone back/);
    const [first = '', last = ''] = error.match(/[0-9A-F]+\/[0-9A-F]+/g) ?? [];
    assert.deepEqual(await rowsAt({ lsn: first }), []);
    assert.deepEqual(await rowsAt({ lsn: last }), [1, 2]);
    assert.deepEqual(await rowsAt({ timestamp: at(3).timestamp }), [1, 2, 3]);
  });

  it('each position has the rows from then, and that of a time is the same one', async () => {
    for (const [index, { lsn, timestamp }] of moments.entries()) {
      const expected = [1, 2, 3].slice(0, index);
      assert.deepEqual(await rowsAt({ lsn }), expected);
      const { lsnOfTime = '' } = (await service.engine.history(ID, timestamp)) ?? {};
      assert.deepEqual(await rowsAt({ lsn: lsnOfTime }), expected);
    }
  });
});
