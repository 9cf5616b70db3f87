/** What fails because of a lock says who holds it, and what helps. */
import assert from 'node:assert/strict';
import { compareRows } from '../../../../../src/extension/database/rows/compareRows.ts';
import { peekRows } from '../../../../../src/extension/database/rows/readRows.ts';
import { tableRowSource } from '../../../../../src/extension/database/rows/statements.ts';
import { EngineError } from '../../../../../src/service/core/computeEngine.ts';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';
import { connectTo, query, runStatements } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';

const ID = 'br-locks';
const never = new AbortController().signal;

describe('A lock that a transaction holds', () => {
  const branch = useBranch({ branchId: ID, pgSettings: { max_prepared_transactions: '4' } });
  let login: BranchLogin;

  before(async () => {
    await query(branch.uri, 'create database other');
    await run('create table item (id int primary key); insert into item values (1)');
    const { host, username: role, password } = new URL(branch.uri);
    login = { host, role, password, database: 'app' };
  });

  const run = (sql: string, database = 'app') => runStatements(branch.uri.replace(/app$/, database), sql);
  const withPrepared = async (work: () => Promise<void>) => {
    await run(
      `begin; alter table item add name text; insert into item values (2); prepare transaction 'it''s open'`,
    );
    try {
      await work();
    } finally {
      await run(`rollback prepared 'it''s open'`);
    }
  };
  const PREPARED =
    /public\.item is locked by the prepared transaction 'it''s open' of app_owner, since \d{4}-.* UTC\. .*ROLLBACK PREPARED 'it''s open' in the database app\./;

  it('of a prepared transaction is not in a branch of the schema only, nor what it has changed', async () => {
    const id = 'br-schema';
    const columns = `select string_agg(attname, ',') from pg_attribute where attrelid = 'item'::regclass and attnum > 0`;
    await run(`begin; create table a (); prepare transaction 'other'`, 'other');
    await withPrepared(async () => {
      await branch.service.engine.createBranch({ id, parentId: ID, isSchemaOnly: true });
    });
    await run(`rollback prepared 'other'`, 'other');
    const copy = await branch.service.uri(await branch.service.create({ branchId: id }));
    assert.deepEqual(await query(copy, `${columns} union all select gid from pg_prepared_xacts`), ['id']);
  });

  it('of a prepared transaction is named if the schema can’t be read', async () => {
    await withPrepared(async () => {
      await assert.rejects(branch.service.engine.schema(ID, 'app', 'sql'), PREPARED);
    });
  });

  for (const [kind, name, change] of [
    ['a view', 'shown', 'create or replace view shown as select 2 as id'],
    ['a materialized view', 'filled', 'refresh materialized view filled'],
  ] as const)
    it(`of ${kind} is named if the schema can’t be read`, async () => {
      await run(`create ${kind.slice(2)} ${name} as select 1 as id`);
      await run(`begin; ${change}; prepare transaction 'it''s open'`);
      try {
        await assert.rejects(branch.service.engine.schema(ID, 'app', 'sql'), ({ message }: Error) =>
          PREPARED.test(message.replace(`public.${name}`, 'public.item')),
        );
      } finally {
        await run(`rollback prepared 'it''s open'`);
        await run(`drop ${kind.slice(2)} ${name}`);
      }
    });

  it('of a session is named if the schema can’t be read', async () => {
    const client = await connectTo(branch.uri, { application_name: 'migrator' });
    await client.query('begin; lock table item');
    const [pid] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
    const error = await branch.service.engine.schema(ID, 'app', 'sql').catch((failure: unknown) => failure);
    await client.end();
    assert.ok(error instanceof EngineError);
    assert.match(error.message, /timeout/);
    assert.match(
      error.message,
      /public\.item is locked by a session of app_owner \("migrator", idle in transaction\), since \d{4}-.* UTC\./,
    );
    assert.ok(error.message.endsWith(`SELECT pg_terminate_backend(${pid?.pid}).`), error.message);
  });

  it('is named if rows can’t be read', async () => {
    await withPrepared(async () => {
      await assert.rejects(peekRows(login, 'table item', never), PREPARED);
    });
  });

  for (const side of ['before', 'after'] as const)
    it(`is named if rows can’t be compared, on the side ${side}`, async () => {
      await run('create table if not exists item (id int primary key)', 'other');
      const logins = {
        before: { ...login, database: 'other' },
        after: { ...login, database: 'other' },
        [side]: login,
      };
      await withPrepared(async () => {
        await assert.rejects(compareRows(logins, tableRowSource('item'), never), PREPARED);
      });
    });

  it('is not named if the statement fails for another reason', async () => {
    await withPrepared(async () => {
      await assert.rejects(
        peekRows(login, 'table missing', never),
        ({ message }: Error) => !message.includes('locked by'),
      );
    });
  });
});
