import assert from 'node:assert/strict';
import { databaseVariables, setDatabaseVariables } from '../../../../src/api/addresses/databaseVariables.ts';
import { ANOTHER_SERVER } from '../../../helpers/anotherServer.ts';

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
    PYTHON_URL: URL.replace('postgresql', 'postgresql+psycopg'),
    DJANGO_URL: URL.replace('postgresql', 'postgis'),
    ELIXIR_URL: URL.replace('postgresql', 'ecto'),
    PHP_URL: URL.replace('postgresql', 'pgsql'),
    LIBPQ: undefined,
    ConnectionStrings__App: undefined,
    PG_HOST: '127.0.0.1',
    PG_USER: 'me',
    PG_PASS: 'p@ss',
    PG_CONFIG: '/usr/bin/pg_config',
    PGHOST_UNPOOLED: '127.0.0.1',
    POSTGRES_USERNAME: 'me',
    DB_CONNECTION: 'pgsql',
    DB_HOST: '127.0.0.1',
    DB_USERNAME: 'me',
    DB_NAME: 'my db',
    TEST_DB_HOST: '127.0.0.1',
    TEST_DB_PORT: '5000',
    MYSQL_HOST: 'another.invalid',
    MYSQL_PORT: '3306',
    PGDATA: '/data',
    OTHER_URL: 'mysql://another.invalid/app',
  };
  const environment = {
    ...ANOTHER_SERVER,
    SECOND_URL: 'postgres://another.invalid/app',
    PYTHON_URL: 'postgresql+psycopg://another.invalid/app',
    DJANGO_URL: 'postgis://another.invalid/app',
    ELIXIR_URL: 'ecto://me:x@another.invalid/app',
    PHP_URL: 'pgsql://another.invalid/app',
    LIBPQ: "user='a b' host=another.invalid",
    ConnectionStrings__App: 'Host=another.invalid;Username=me;Password=x',
    PG_HOST: 'another.invalid',
    PG_USER: 'another',
    PG_PASS: 'x',
    PG_CONFIG: '/usr/bin/pg_config',
    PGHOST_UNPOOLED: 'another.invalid',
    POSTGRES_USERNAME: 'another',
    DB_CONNECTION: 'pgsql',
    DB_HOST: 'another.invalid',
    DB_USERNAME: 'another',
    DB_NAME: 'another',
    TEST_DB_HOST: 'another.invalid',
    TEST_DB_PORT: '5432',
    MYSQL_HOST: 'another.invalid',
    MYSQL_PORT: '3306',
    PGDATA: '/data',
    OTHER_URL: 'mysql://another.invalid/app',
  };

  it('replaces what clients read, and removes what it cannot replace', () => {
    const result = { ...environment, ...databaseVariables(URL, environment) };
    const names = Object.keys(cases);
    assert.deepEqual(Object.fromEntries(names.map((name) => [name, Object(result)[name]])), cases);
  });

  it('removes all if there is no database', () => {
    const changed = databaseVariables(undefined, environment);
    assert.deepEqual(
      Object.entries(changed).filter(([, value]) => value),
      [],
    );
    const left = Object.entries({ ...environment, ...changed }).filter(([, value]) => value);
    const others = ['DB_CONNECTION', 'MYSQL_HOST', 'MYSQL_PORT', 'OTHER_URL', 'PGDATA', 'PG_CONFIG'];
    const proxies = ['HTTP_PROXY', 'NODE_USE_ENV_PROXY'];
    assert.deepEqual(left.map(([name]) => name).toSorted(), [...others, ...proxies].toSorted());
  });

  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
    [1, 2, 0],
  ])
    it(`sets them back after several databases that are left in the order ${order.join()}`, () => {
      const before = { ...process.env };
      const leave = ['a', 'b', 'c'].map((name) => setDatabaseVariables(`${URL}_${name}`));
      for (const index of order) leave[index]?.();
      assert.deepEqual({ ...process.env }, before);
    });

  it('sets the variables of the process and sets them back', () => {
    const before = { ...process.env };
    process.env['PGSERVICE'] = 'another';
    const leave = setDatabaseVariables(URL);
    assert.deepEqual([process.env['PGSERVICE'], process.env['POSTGRES_URL']], [undefined, URL]);
    leave();
    assert.equal(process.env['PGSERVICE'], 'another');
    delete process.env['PGSERVICE'];
    assert.deepEqual({ ...process.env }, before);
  });
});
