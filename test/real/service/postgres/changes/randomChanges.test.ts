/** Compares the list of changes with what random transactions have changed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { connectTo } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { RandomChanges, type State } from './randomChanges.ts';
import { differenceOf } from './stateDifference.ts';

const ID = 'br-random';
const NO_LIMIT = 2 ** 40;
/** Each has this many transactions, and asks for the changes since each of them at once. */
const TRANSACTIONS = 10;
const ROUNDS = roundsOf(15, 200);
/** After so many rounds, the part of the log that is read begins after the last checkpoint. */
const ROUNDS_UNTIL_FULL = 40;

describe('What random transactions have changed', () => {
  let service: ControlPlane;
  let client: pg.Client;

  before(async () => {
    service = await startControlPlane();
    await service.engine.createBranch({ id: ID, keepsHistory: true });
    const pgSettings = { max_prepared_transactions: '4', max_wal_size: '4096' };
    const uri = await service.uri(await service.create({ id: 'ep-random', branchId: ID, pgSettings }));
    await service.engine.changesSince(ID, []);
    const file = path.join(service.dataDir, 'postgres/logins.json');
    const { superuser } = JSON.parse(readFileSync(file, 'utf8')) as { superuser: string };
    client = await connectTo(uri);
    await client.end();
    client = await connectTo(uri.replace(/\/\/.*@/, `//postgres:${superuser}@`));
    await service.engine.keepHistory([{ id: ID, seconds: 86_400 }], {
      isAll: true,
      limits: { branch: NO_LIMIT, total: NO_LIMIT, leastWritten: 0, mostWritten: 0 },
    });
  });

  it('is in the list as it is, or said to be unknown', async () => {
    const changes = new RandomChanges(client, randomNumbers());
    await changes.setUp();
    let [known, unknown] = [0, 0];
    for (let round = 0; round < ROUNDS; round += 1) {
      const states: [State, ...State[]] = [await changes.state()];
      const done: string[] = [];
      if (round % ROUNDS_UNTIL_FULL === ROUNDS_UNTIL_FULL - 1) await changes.fill();
      for (let each = 0; each < TRANSACTIONS; each += 1) {
        done.push(await changes.act());
        states.push(await changes.state());
      }
      const moments = states.map(({ moment: timestamp }) => ({ branchId: ID, timestamp }));
      const found = await service.engine.changesSince(ID, moments);
      for (const [index, list] of found.entries()) {
        if (list === undefined) unknown += 1;
        else {
          known += 1;
          const [first, ...later] = states.slice(index);
          assert.ok(first);
          const entries = list
            .filter(({ schema }) => schema !== 'public')
            .map(({ schema, name, change, added, changed, deleted }) => ({
              schema,
              name,
              change,
              rows: [added, changed, deleted],
            }))
            .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
          assert.deepEqual(
            entries,
            differenceOf([first, ...later]),
            `round ${round}: ${done.slice(index).join('\n')}`,
          );
        }
      }
    }
    console.log(`${known} lists of changes are right, ${unknown} unknown`);
    assert.ok(known > unknown, `${unknown} of ${known + unknown} are unknown`);
  });
});
