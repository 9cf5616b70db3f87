import assert from 'node:assert/strict';
import { describeAssumedVariables } from '../../../../src/api/addresses/addressGroups.ts';
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

  const changed = (environment: NodeJS.ProcessEnv) => {
    const result = { ...environment, ...databaseVariables(URL, environment) };
    return Object.fromEntries(
      [...Object.keys(environment), 'DB_PORT', 'db_port'].flatMap((name) =>
        result[name] === environment[name] ? [] : [[name, result[name]]],
      ),
    );
  };
  const OURS = { DB_HOST: '127.0.0.1', DB_PORT: '5000', DB_USER: 'me', DB_PASSWORD: 'p@ss' };
  const LOGIN = { DB_USER: 'shop', DB_PASSWORD: 'secret' };

  for (const [what, environment, replaced] of [
    ['no port', { DB_HOST: 'shop.rds.example', ...LOGIN, DB_NAME: 'shop' }, { ...OURS, DB_NAME: 'my db' }],
    ["a pooler's port", { DB_HOST: 'shop.example', DB_PORT: '6543', ...LOGIN }, OURS],
    [
      'a port after the host',
      { DB_HOST: 'shop.example:6543', ...LOGIN },
      { ...OURS, DB_HOST: '127.0.0.1:5000' },
    ],
    ['a socket as its host', { DB_HOST: '/cloudsql/shop:eu:main', ...LOGIN }, OURS],
    [
      'names in lower case',
      { db_host: 'shop.example', db_user: 'shop' },
      { db_host: '127.0.0.1', db_port: '5000', db_user: 'me' },
    ],
    [
      'files with its login',
      { DB_HOST: 'shop.example', DB_PASSWORD_FILE: '/run/secrets/db' },
      { DB_HOST: '127.0.0.1', DB_PORT: '5000', DB_PASSWORD_FILE: undefined },
    ],
    [
      'its login under a shorter prefix',
      { DB_READER_HOST: 'r.example', DB_USER: 'shop', DB_PASSWORD: 'secret' },
      { DB_READER_HOST: '127.0.0.1', DB_USER: 'me', DB_PASSWORD: 'p@ss' },
    ],
    [
      'only the name of a database as its login',
      { SHOP_DB_HOST: 'shop.example', SHOP_DB_NAME: 'shop' },
      { SHOP_DB_HOST: '127.0.0.1', SHOP_DB_NAME: 'my db' },
    ],
    ['a string that others have, too', { App: 'Server=shop.example;Database=shop' }, { App: undefined }],
  ] as const)
    it(`replaces an address of what may be Postgres, and names it: ${what}`, () => {
      assert.deepEqual(changed(environment), replaced);
      const text = describeAssumedVariables(environment) ?? '';
      const prefix = Object.keys(environment)[0]?.replace(/host$/i, '');
      assert.ok(
        Object.keys(environment).every((name) => text.includes(name)),
        text,
      );
      const others = { ...environment, HOSTED_POSTGRES_OTHER_SERVICES: `MAIL_, ${prefix}` };
      assert.ok(text.includes(`HOSTED_POSTGRES_OTHER_SERVICES=${prefix}, `), text);
      assert.deepEqual([changed(others), describeAssumedVariables(others)], [{}, undefined]);
    });

  it('leaves what is another service, has no login, or leads nowhere', () => {
    const environment = {
      MAIL_HOST: 'mail.example',
      MAIL_PORT: '587',
      MAIL_USERNAME: 'me',
      SEARCH_HOST: 'https://search.example',
      SEARCH_PASSWORD: 'x',
      REDIS_HOST: 'redis.example:6379',
      REDIS_PASSWORD: 'x',
      SQL_SERVER: 'Server=tcp:sql.example,1433;Database=x',
      VITE_HOST: '0.0.0.0',
      POSTGRES_VERSION: '18',
      POSTGRES_IMAGE: 'postgres:18-alpine',
      POSTGRES_HOST_AUTH_METHOD: 'trust',
      POSTGRES_INITDB_ARGS: '--data-checksums',
      APP_HOST: '0.0.0.0',
      APP_PORT: '3000',
      APP_NAME: 'pg-shop',
    };
    assert.deepEqual([changed(environment), describeAssumedVariables(environment)], [{}, undefined]);
  });

  it('leaves the host of an app that has the URL of its database next to it', () => {
    const environment = {
      APP_HOST: '0.0.0.0',
      APP_PORT: '3000',
      APP_DATABASE_URL: 'postgres://x.example/app',
    };
    assert.deepEqual(
      [changed(environment), describeAssumedVariables(environment)],
      [{ APP_DATABASE_URL: URL }, undefined],
    );
  });

  it('replaces a host that the URL next to it has, too, and that of a reader', () => {
    const environment = { DB_HOST: 'db.prod', DB_URL: 'postgres://u:p@db.prod/app' };
    assert.deepEqual(changed(environment), { DB_HOST: '127.0.0.1', DB_PORT: '5000', DB_URL: URL });
    assert.deepEqual(Object.keys(changed({ DB_READER_HOST: 'db.prod', DB_READER_NAME: 'app' })), [
      'DB_READER_HOST',
      'DB_READER_NAME',
    ]);
  });

  it('removes all others with the prefix of the images, which may lead to a database by any name', () => {
    const environment = {
      POSTGRES_ADDR: 'db.prod:5432',
      POSTGRESQL_ENDPOINT: 'db.prod',
      postgres_address: 'db.prod',
      POSTGRES_SSLMODE: 'verify-full',
    };
    assert.deepEqual(Object.values(changed(environment)), Array(4).fill(undefined));
    assert.deepEqual(Object.keys(changed(environment)), Object.keys(environment));
  });

  it('removes files with the address of Postgres', () => {
    const environment = { POSTGRES_PASSWORD_FILE: '/run/secrets/a', DATABASE_URL_FILE: '/run/secrets/b' };
    assert.deepEqual(changed(environment), {
      POSTGRES_PASSWORD_FILE: undefined,
      DATABASE_URL_FILE: undefined,
    });
  });

  it('warns once about what may be a database', async () => {
    const before = { ...process.env };
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => void warnings.push(message);
    process.on('warning', onWarning);
    for (const prefix of ['SHOP_', 'STOCK_']) {
      Object.assign(process.env, { [`${prefix}HOST`]: 'shop.example', [`${prefix}USER`]: 'shop' });
      setDatabaseVariables(URL)();
    }
    // Node emits warnings in the next tick.
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    assert.deepEqual(
      warnings.map((text) => text.includes('SHOP_HOST, SHOP_USER')),
      [true],
    );
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
