import assert from 'node:assert/strict';
import {
  asDatabaseRow,
  databaseOfRow,
  databaseRowName,
  type Column,
  type TableName,
} from '../../../../src/extension/inventory/databaseNodes.ts';
import {
  DatabaseTreeRows,
  type DatabaseObjects,
} from '../../../../src/extension/inventory/databaseTreeRows.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';

const branch = { projectId: 'shop', branchId: 'br-main' };
const databases = { kind: 'databases', ...branch } as const;
const database = { kind: 'database', ...branch, database: 'app' } as const;
const columns: readonly Column[] = [{ name: 'id', type: 'integer', isNullable: false, isKey: true }];
const table = (name: string): TableName => ({ schema: 'public', name, isView: false });

describe('DatabaseTreeRows', () => {
  let model: ScriptedModel;
  let reply: unknown;
  let calls: string[];
  let objects: () => Promise<DatabaseObjects | undefined>;
  const only = (...tables: TableName[]) => ({ tables, functions: [] });
  let rows: DatabaseTreeRows;

  beforeEach(async () => {
    calls = [];
    reply = {
      databases: [
        { name: 'app', owner_name: 'me' },
        { name: 'b', owner_name: 'me' },
      ],
    };
    objects = async () => only(table('one'));
    model = await connectScripted((call) => {
      calls.push(call);
      return reply;
    });
    rows = new DatabaseTreeRows(model.session, {
      objects: async (of, name) => {
        calls.push(`objects of ${of.branchId}/${name}`);
        return objects();
      },
      columns: async (of, name, table) => {
        calls.push(`columns of ${of.branchId}/${name}/${table.schema}.${table.name}`);
        return columns;
      },
    });
  });

  it('lists the databases of a branch by one request, until they are refreshed', async () => {
    assert.deepEqual(calls, []);
    assert.deepEqual(await rows.loadRows('a', databases), [database, { ...database, database: 'b' }]);
    await rows.loadRows('a', databases);
    assert.deepEqual(calls, ['GET /projects/shop/branches/br-main/databases']);
    rows.forget('a');
    await rows.loadRows('a', databases);
    assert.equal(calls.length, 2);
  });

  it('lists the tables of a database once, also if VS Code asks twice at a time', async () => {
    const [first, second] = await Promise.all([rows.loadRows('b', database), rows.loadRows('b', database)]);
    assert.deepEqual(first, [{ kind: 'table', ...branch, database: 'app', ...table('one') }]);
    assert.equal(first, second);
    assert.deepEqual(calls, ['objects of br-main/app']);
  });

  it('lists functions after the tables, and the columns of a table', async () => {
    const add = { schema: 'public', name: 'add', parameters: 'a integer', result: 'integer' };
    objects = async () => ({ tables: [table('one')], functions: [add] });
    const [found, found2] = await rows.loadRows('b', database);
    assert.deepEqual(found2, { kind: 'function', ...branch, database: 'app', ...add });
    assert.ok(found?.kind === 'table');
    const below = await rows.loadRows('c', found);
    const of = { kind: 'column', ...branch, database: 'app', table: { schema: 'public', name: 'one' } };
    assert.deepEqual(
      below,
      columns.map((column) => ({ ...of, ...column })),
    );
    assert.deepEqual(calls, ['objects of br-main/app', 'columns of br-main/app/public.one']);
  });

  const hintOf = async (parent: typeof databases | typeof database) => {
    const found = (await rows.loadRows('c', parent)).at(-1);
    return found?.kind === 'databaseHint' ? found.hint : undefined;
  };

  it('shows a few hundred tables, and how many more there are', async () => {
    objects = async () => only(...Array.from({ length: 1000 }, (_, index) => table(String(index))));
    assert.deepEqual(await hintOf(database), { more: 700 });
    assert.equal((await rows.loadRows('c', database)).length, 301);
  });

  it('says why there are no rows', async () => {
    objects = async () => undefined;
    assert.equal(await hintOf(database), 'notRead');
    rows.clear();
    objects = async () => only();
    assert.equal(await hintOf(database), 'empty');
    rows.clear();
    const error = new Error('no connection');
    objects = async () => Promise.reject(error);
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
    assert.deepEqual(asDatabaseRow({ ...database, more: 1 }), database);
    assert.deepEqual(asDatabaseRow({ ...databases, more: 1 }), databases);
  });

  it('are undefined for any other value', () => {
    for (const odd of [undefined, { ...database, branchId: 'a/b' }, { ...database, database: 1 }])
      assert.equal(asDatabaseRow(odd), undefined);
    for (const odd of [
      { ...node, kind: 'column' },
      { ...node, schema: 1 },
      { ...node, projectId: '..' },
    ])
      assert.equal(asDatabaseRow(odd), undefined);
  });

  it('name a database, and what is in it without the schema “public”', () => {
    assert.equal(databaseOfRow(databases), undefined);
    assert.equal(databaseOfRow(node), 'app');
    assert.equal(databaseRowName(database), 'app');
    assert.equal(databaseRowName(node), 'o"ne');
    assert.equal(databaseRowName({ ...node, kind: 'function', schema: 'shop' }), 'shop.o"ne');
    assert.equal(databaseRowName({ ...node, kind: 'column', schema: undefined }), 'o"ne');
    for (const odd of [undefined, databases, { ...node, kind: 'compute' }, { ...database, database: 1 }])
      assert.equal(databaseRowName(odd), undefined);
  });
});
