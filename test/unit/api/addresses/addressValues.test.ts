import assert from 'node:assert/strict';
import { describeAssumedVariables } from '../../../../src/api/addresses/addressGroups.ts';
import { isDatabaseAddress, mayBeDatabaseAddress } from '../../../../src/api/addresses/addressValues.ts';
import { databaseVariables } from '../../../../src/api/addresses/databaseVariables.ts';
import { assertLinear } from '../../../helpers/assertLinear.ts';

const URL = 'postgresql://me:x@127.0.0.1:5000/app';
const LEFT = 'it stays';

/** The value that a command gets instead, and whether it is told so. */
const changeOf = (value: string, environment: NodeJS.ProcessEnv = {}) => {
  const before = { SHOP: value, ...environment };
  const changes = databaseVariables(URL, before);
  return [
    'SHOP' in changes ? changes['SHOP'] : LEFT,
    describeAssumedVariables(before)?.includes('SHOP') === true,
  ];
};

describe('The value of a variable', () => {
  for (const [value, after] of [
    ['"postgres://u:p@prod/shop"', URL],
    [" 'postgresql://u:p@prod/shop' ", URL],
    ['psql://u:p@prod/shop', URL.replace('postgresql', 'psql')],
    ['`pgsql://u:p@prod/shop`', URL.replace('postgresql', 'pgsql')],
    ['r2dbc:pool:postgres://u:p@prod/shop', undefined],
    ['r2dbc:postgresql://prod/shop', undefined],
    ['jdbc:aws-wrapper:postgresql://prod/shop', undefined],
    ['jdbc:postgresql:shop', undefined],
    ['vertx-reactive:postgresql://prod/shop', undefined],
    ['db+postgresql+psycopg2://u:p@prod/shop', undefined],
    ['psql "postgres://u:p@prod/shop" -c "select 1"', undefined],
    ['mysql://u:p@prod/shop,postgres://u:p@prod/shop', undefined],
    ['{"db":{"uri":"postgres://u:p@prod/shop"}}', undefined],
    ['prod.example:5432', undefined],
    ['tcp://10.0.0.1:5432', undefined],
    ['User ID=u;Password=p;Host=prod', undefined],
    ['"User Id = u; Password = p; Server = prod; Port = 5432"; Provider=Npgsql;Host=prod', undefined],
    ["  HOST = 'prod' user=u", undefined],
    ['"host=prod user=u"', undefined],
    ['pgsql:host=prod;dbname=shop', undefined],
    ['PGSQL: dbname=shop; host=prod', undefined],
    ['dbi:Pg:host=prod', undefined],
    ['DBI:Pg(RaiseError=>1):dbname=shop;host=prod', undefined],
    ['Driver={PostgreSQL Unicode};Server=prod;Database=shop;Uid=u;Pwd=p', undefined],
    ['Provider=PostgreSQL OLE DB Provider;Data Source=prod;User ID=u;Password=p', undefined],
    ['{"engine":"postgres","host":"prod","port":5433,"username":"u","password":"p"}', undefined],
    ['psql host=prod dbname=shop', undefined],
  ] as const)
    it(`is replaced if it names Postgres: ${value}`, () => {
      assert.deepEqual(changeOf(value), [after, false]);
    });

  for (const value of [
    'cockroachdb://u:p@prod:26257/shop',
    'redshift+psycopg2://u:p@prod/shop',
    'jdbc:redshift://prod:5439/shop',
    'pgx5://u:p@prod/shop',
    'prisma://prod.example/?api_key=x',
    '"anything:else://u@prod"',
    'Data Source=prod;Initial Catalog=shop',
    'Address=prod;User Name=u',
    'DSN=prod;UID=u;PWD=p',
    'odbc:Driver=any;Server=prod;Database=shop',
    'User=u;Network Address=prod',
    '{"host":"prod","user":"u","password":"p","retries":80}',
    '{"shop": {"Server": "prod", "Database": "shop"}}',
    "{host: 'prod', database: 'shop'}",
    '{"cache":{"host":"redis","port":6379},"db":{"host":"prod","user":"u"}}',
    'any://u@cache:6379/0 any://u@prod/shop',
  ])
    it(`is removed and named if nothing says what it leads to: ${value}`, () => {
      assert.deepEqual(changeOf(value), [undefined, true]);
      assert.deepEqual(changeOf(value, { HOSTED_POSTGRES_OTHER_SERVICES: 'MAIL_,SHOP' }), [LEFT, false]);
    });

  for (const value of [
    'redis://:p@redis.example:6379/0',
    'rediss://u:p@prod/0',
    'redis-sentinel://u:p@prod:5432/0',
    'smtp://u:p@mail.example:587',
    'ses+smtp://KEY:SECRET@default',
    'https://u:p@prod.example:5432/shop?host=a&user=b',
    'http://127.0.0.1:3000/path',
    '"https://key@sentry.example/1"',
    'wss://prod.example/sql?database=shop',
    's3://bucket/path',
    's3+https://KEY:SECRET@s3.example/bucket',
    'amqps://u:p@prod/vhost',
    'mongodb+srv://u:p@prod/shop',
    'mysql://u:p@prod/postgres',
    'jdbc:mysql://prod/shop?user=u',
    'jdbc:sqlserver://prod:1433;user=u;password=p',
    'sqlite:///shop.db',
    'file:///etc/app?host=a',
    'git+ssh://git@github.com/a/b.git',
    'socks5h://u:p@proxy:1080',
    'tcp://10.0.0.1:8080',
    'unix:///var/run/docker.sock',
    'tcp:host=localhost,port=1234,family=ipv4',
    'grpc://otel:4317',
    'any://host',
    'any://u:p@prod:6379/0',
    'mysql:host=prod;dbname=postgres',
    'dbi:SQLite:dbname=shop.db',
    'sqlsrv:Server=prod;Database=shop',
    'Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=b',
    'Data Source=app.db',
    'Server=tcp:sql.example,1433;Database=shop',
    '{"host":"mail.example","port":587,"user":"u","password":"p"}',
    '{"host":"0.0.0.0","port":3000}',
    '{"engine":"mysql","host":"prod","port":3306,"username":"u","password":"p","dbname":"shop"}',
    '5432',
    '127.0.0.1:5432:5432',
    'postgres:18-alpine',
    '--host=prod --user=u',
    '() {  local host="$1" user="$2"; }',
    'rs=0:di=01;34:*.db=00;32',
    '/usr/bin:/bin',
  ])
    it(`stays if it is known to be another service's, or no address: ${value}`, () => {
      assert.deepEqual(changeOf(value), [LEFT, false]);
    });

  it('replaces the variables of URLs without naming them, whatever they have', () => {
    const environment = { DATABASE_URL: 'prisma://prod.example/?api_key=x' };
    assert.equal(databaseVariables(URL, environment)['DATABASE_URL'], URL);
    assert.equal(describeAssumedVariables(environment), undefined);
  });

  it('is read in time that is linear in its length', () => {
    const units = [
      'a',
      'a:',
      'a ',
      ' ',
      '"',
      ':',
      '://',
      'a://',
      'http://a ',
      'host',
      'host ',
      'port ',
      ',',
      ', ',
      ';server ',
    ];
    for (const unit of [
      ...units,
      'a-',
      '(',
      'a(',
      'postgres',
      'postgres+a',
      'jdbc:',
      ':5432',
      '[',
      '1',
      ':1',
      'user ',
      '{"a":',
    ])
      assertLinear(unit, 30_000, (text) => void [isDatabaseAddress(text), mayBeDatabaseAddress(text)]);
  });
});
