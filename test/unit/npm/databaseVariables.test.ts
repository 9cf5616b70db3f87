import assert from 'node:assert/strict';
import { databaseVariables, useDatabase } from '../../../src/npm/databaseVariables.ts';
import { ANOTHER_SERVER } from '../../helpers/anotherServer.ts';

const URL = 'postgresql://me:p%40ss@127.0.0.1:5000/my%20db?sslmode=require';

describe('databaseVariables', () => {
  const cases = {
    PGHOST: '127.0.0.1',
    PGPORT: '5000',
    PGUSER: 'me',
    PGPASSWORD: 'p@ss',
    PGDATABASE: 'my db',
    POSTGRES_DB: 'my db',
    PGSERVICE: undefined,
    PGHOSTADDR: undefined,
    PGSSLMODE: undefined,
    PGOPTIONS: undefined,
    DATABASE_URL: URL,
    DIRECT_URL: URL,
    POSTGRES_PRISMA_URL: URL,
    SECOND_URL: URL,
    SHADOW_DATABASE_URL: undefined,
    JDBC_DATABASE_URL: undefined,
    PYTHON_URL: undefined,
    PGDATA: '/data',
    OTHER_URL: 'mysql://another.invalid/app',
  };
  const environment = {
    ...ANOTHER_SERVER,
    SECOND_URL: 'postgres://another.invalid/app',
    PYTHON_URL: 'postgresql+psycopg://another.invalid/app',
    PGDATA: '/data',
    OTHER_URL: 'mysql://another.invalid/app',
  };

  it('replaces what clients read, and removes what it cannot replace', () => {
    const result = { ...environment, ...databaseVariables(URL, environment) };
    const names = Object.keys(cases);
    assert.deepEqual(Object.fromEntries(names.map((name) => [name, Object(result)[name]])), cases);
  });

  it('removes all if there is no database', () => {
    const left = Object.entries(databaseVariables(undefined, environment)).filter(([, value]) => value);
    assert.deepEqual(left, []);
  });

  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
    [1, 2, 0],
  ])
    it(`sets them back after several databases that are left in the order ${order.join()}`, () => {
      const before = { ...process.env };
      const leave = ['a', 'b', 'c'].map((name) => useDatabase(`${URL}_${name}`));
      for (const index of order) leave[index]?.();
      assert.deepEqual({ ...process.env }, before);
    });

  it('sets the variables of the process and sets them back', () => {
    const before = { ...process.env };
    process.env['PGSERVICE'] = 'another';
    const leave = useDatabase(URL);
    assert.deepEqual([process.env['PGSERVICE'], process.env['POSTGRES_URL']], [undefined, URL]);
    leave();
    assert.equal(process.env['PGSERVICE'], 'another');
    delete process.env['PGSERVICE'];
    assert.deepEqual({ ...process.env }, before);
  });
});
