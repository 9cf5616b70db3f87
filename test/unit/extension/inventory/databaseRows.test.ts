import assert from 'node:assert/strict';
import {
  asDatabaseParent,
  asDatabaseRow,
  type TableName,
} from '../../../../src/extension/inventory/databaseNodes.ts';
import { DatabaseRows } from '../../../../src/extension/inventory/databaseRows.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';

const branch = { projectId: 'shop', branchId: 'br-main' };
const databases = { kind: 'databases', ...branch } as const;
const database = { kind: 'database', ...branch, database: 'app' } as const;
const table = (name: string): TableName => ({ schema: 'public', name, isView: false });

describe('DatabaseRows', () => {
  let model: ScriptedModel;
  let reply: unknown;
  let calls: string[];
  let tables: () => Promise<readonly TableName[] | undefined>;
  let rows: DatabaseRows;

  beforeEach(async () => {
    calls = [];
    reply = {
      databases: [
        { name: 'app', owner_name: 'me' },
        { name: 'b', owner_name: 'me' },
      ],
    };
    tables = async () => [table('one')];
    model = await connectScripted((call) => {
      calls.push(call);
      return reply;
    });
    rows = new DatabaseRows(model.session, async (of, name) => {
      calls.push(`tables of ${of.branchId}/${name}`);
      return tables();
    });
  });

  it('lists the databases of a branch by one request, until they are refreshed', async () => {
    assert.deepEqual(calls, []);
    assert.deepEqual(await rows.below('a', databases), [database, { ...database, database: 'b' }]);
    await rows.below('a', databases);
    assert.deepEqual(calls, ['GET /projects/shop/branches/br-main/databases']);
    rows.forget('a');
    await rows.below('a', databases);
    assert.equal(calls.length, 2);
  });

  it('lists the tables of a database once, also if VS Code asks twice at a time', async () => {
    const [first, second] = await Promise.all([rows.below('b', database), rows.below('b', database)]);
    assert.deepEqual(first, [{ kind: 'table', ...branch, database: 'app', ...table('one') }]);
    assert.equal(first, second);
    assert.deepEqual(calls, ['tables of br-main/app']);
  });

  const hintOf = async (parent: typeof databases | typeof database) => {
    const found = (await rows.below('c', parent)).at(-1);
    return found?.kind === 'databaseHint' ? found.hint : undefined;
  };

  it('shows a few hundred tables, and how many more there are', async () => {
    tables = async () => Array.from({ length: 1000 }, (_, index) => table(String(index)));
    assert.deepEqual(await hintOf(database), { more: 700 });
    assert.equal((await rows.below('c', database)).length, 301);
  });

  it('says why there are no rows', async () => {
    tables = async () => undefined;
    assert.equal(await hintOf(database), 'notRead');
    rows.clear();
    tables = async () => [];
    assert.equal(await hintOf(database), 'empty');
    rows.clear();
    const error = new Error('no connection');
    tables = async () => Promise.reject(error);
    assert.deepEqual(await hintOf(database), { error });
    rows.clear();
    reply = { databases: [] };
    assert.equal(await hintOf(databases), 'empty');
    rows.clear();
    reply = 404;
    assert.equal(await hintOf(databases), 'notOffered');
  });
});

describe('arguments of commands on databases and tables', () => {
  const node = { kind: 'table', ...branch, database: 'app', ...table('o"ne') } as const;

  it('are returned without further properties', () => {
    assert.deepEqual(asDatabaseRow({ ...node, more: 1 }), node);
    assert.deepEqual(asDatabaseParent({ ...database, more: 1 }), database);
    assert.deepEqual(asDatabaseParent({ ...databases, more: 1 }), databases);
  });

  it('are undefined for any other value', () => {
    for (const odd of [undefined, node, { ...database, branchId: 'a/b' }, { ...database, database: 1 }])
      assert.equal(asDatabaseParent(odd), undefined);
    for (const odd of [undefined, { ...node, schema: undefined }, { ...node, projectId: '..' }])
      assert.equal(asDatabaseRow(odd), undefined);
  });
});
