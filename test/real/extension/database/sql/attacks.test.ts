/** Code that users put into a database, and what reads there: agents, Peek Rows, Compare Rows and the tree. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { runSql } from '../../../../../src/extension/agents/runSql.ts';
import { compareRows } from '../../../../../src/extension/database/rows/compareRows.ts';
import { readColumns, readObjects } from '../../../../../src/extension/database/rows/readCatalog.ts';
import { peekRows } from '../../../../../src/extension/database/rows/readRows.ts';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';
import { SHADOWED_WAYS, spellingsOf, TRAP, WAYS } from '../../../../helpers/strangersCode.ts';
import { connectTo, query, runStatements } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';
import { readerOf } from './readerOf.ts';

const never = new AbortController().signal;
/** The ways by database. */
const ALL = { app: WAYS, shadowed: SHADOWED_WAYS };
const HARMLESS = /^ran as service_reader in .* done: \(P0001/;
const EVIDENCE = `select (select count(*)::int from "Trap"."Evidence"),
  (select count(*)::int from pg_catalog.pg_stat_activity where pid in (table "Trap"."Victim")),
  (select count(*)::int from pg_catalog.pg_locks where locktype = 'advisory'),
  (select count(*)::int from pg_catalog.pg_replication_slots),
  (select count(*)::int from pg_catalog.pg_largeobject_metadata),
  (select count(*)::int from pg_catalog.pg_roles where rolsuper)`;

describe('The code of strangers in a database that is read', () => {
  const branch = useBranch();
  let victim: pg.Client;
  const notified: string[] = [];
  const readers = new Map<string, BranchLogin>();
  const uriOf = (database: string) => branch.uri.replace(/app$/, database);
  const reader = (database: string) => {
    const login = readers.get(database);
    assert.ok(login);
    return login;
  };

  before(async () => {
    const setups = [...Object.values(WAYS), ...Object.values(SHADOWED_WAYS)].flatMap(
      ({ setup }) => setup ?? [],
    );
    await runStatements(branch.uri, TRAP, ...setups);
    await query(uriOf('postgres'), 'create database shadowed template app');
    victim = await connectTo(branch.uri, { application_name: 'the victim' });
    victim.on('notification', ({ channel }) => notified.push(channel));
    await victim.query('listen trap');
    for (const database of Object.keys(ALL)) {
      await runStatements(
        uriOf(database),
        `insert into "Trap"."Armed" default values;
        insert into "Trap"."Victim" select pid from pg_stat_activity where application_name = 'the victim'`,
      );
      readers.set(database, await readerOf(branch.service, branch.compute, database));
    }
    await query(branch.uri, `alter database shadowed set search_path = "Trap", pg_catalog`);
  });

  const isUnchanged = async () => {
    assert.deepEqual(await query(branch.uri, EVIDENCE), [0, 1, 0, 0, 0, 1]);
    assert.deepEqual(notified, []);
  };
  /** @returns what the code said, or undefined if it didn't run */
  const said = async (statement: Promise<unknown>): Promise<string | undefined> => {
    const message = await statement.then(
      () => '',
      (error: unknown) => String(error),
    );
    if (process.env['SHOW']) console.log(message.slice(0, 200));
    return /ran as .*/.exec(message)?.[0];
  };

  it('runs by each of these ways, and with the rights of the owner if the owner reads', async () => {
    for (const [database, ways] of Object.entries(ALL)) {
      const owner = await connectTo(uriOf(database));
      for (const [name, { sql }] of Object.entries(ways)) {
        await owner.query('begin read only');
        assert.match(
          String(await said(owner.query(sql))),
          /ran as app_owner .*done:.* signaled/,
          `${name}: ${sql}`,
        );
        await owner.query('rollback');
      }
      await owner.end();
    }
  });

  for (const [database, ways] of Object.entries(ALL))
    it(`has no effect through an agent's statements in ${database}`, async () => {
      let count = 0;
      let ran = 0;
      for (const [name, { sql }] of Object.entries(ways))
        for (const spelling of spellingsOf(sql)) {
          count += 1;
          const text = await said(
            runSql(reader(database), { sql: spelling, write: false, maxRows: 10 }, never),
          );
          if (text === undefined) continue;
          ran += 1;
          assert.match(text, HARMLESS, `${name}: ${spelling}`);
        }
      await isUnchanged();
      // Some spellings don't run, nor does a policy, which the role bypasses.
      assert.ok(ran > 0.9 * count, `${ran} of ${count} ran`);
    });

  for (const [database, ways] of Object.entries(ALL))
    it(`has no effect through a peek or a comparison in ${database}`, async () => {
      const login = reader(database);
      for (const [name, { sql }] of Object.entries(ways)) {
        const found = await said(peekRows(login, sql, never));
        if (found !== undefined) assert.match(found, HARMLESS, name);
        if (sql.startsWith('explain')) continue;
        const source = { sql, name };
        const text = await said(compareRows({ before: login, after: login }, source, never));
        if (text !== undefined) assert.match(text, HARMLESS, name);
      }
      await isUnchanged();
    });

  it('does not run when the tree lists tables, also for the owner', async () => {
    for (const database of Object.keys(ALL)) {
      const { username: role, password, host } = new URL(branch.uri);
      for (const login of [reader(database), { role, password, host, database }]) {
        const { tables } = await readObjects(login, never);
        assert.ok(tables.length > 10);
        const columns = [];
        for (const table of tables.slice(0, 3)) columns.push(...(await readColumns(login, table, never)));
        assert.ok(columns.length > 0);
      }
    }
    await isUnchanged();
  });
});
