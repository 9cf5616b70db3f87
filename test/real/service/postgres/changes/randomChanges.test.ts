/** Compares the list of changes with what random transactions have changed. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { connectTo, query } from '../clients.ts';
import { superuserUri } from '../controlPlane.ts';
import { keepHistory } from '../keepHistory.ts';
import { useBranch } from '../useBranch.ts';
import { RandomChanges, type State } from './randomChanges.ts';
import { differenceOf } from './stateDifference.ts';

const ID = 'br-random';
/** Each has this many transactions, and asks for the changes since each of them at once. */
const TRANSACTIONS = 10;
const ROUNDS = roundsOf(8, 100);
/** After so many rounds, the part of the log that is read begins after the last checkpoint. */
const ROUNDS_UNTIL_FULL = 40;

for (const logicalReplication of [false, true])
  describe(`What random transactions have changed${logicalReplication ? ', with logical replication' : ''}`, () => {
    const branch = useBranch({
      branchId: ID,
      logicalReplication,
      pgSettings: { max_prepared_transactions: '4', max_wal_size: '4096' },
    });
    let client: pg.Client;

    before(async () => {
      await branch.service.engine.changesSince(ID, []);
      await query(branch.uri, 'select 1');
      client = await connectTo(superuserUri(branch.service, branch.uri));
      await keepHistory(branch.service, ID);
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
        const found = await branch.service.engine.changesSince(ID, moments);
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
