import assert from 'node:assert/strict';
import pg from 'pg';
import fc from '../../../helpers/fastCheck.ts';
import { readConnectionUri } from '../../../../src/api/addresses/connectionUri.ts';
import {
  databaseUrl,
  parseDatabaseUrl,
  withDatabase,
  replaceUrlTarget,
} from '../../../../src/api/addresses/databaseUrl.ts';
import { splitHost } from '../../../../src/api/addresses/host.ts';
import { assertLinear } from '../../../helpers/assertLinear.ts';

describe('parseDatabaseUrl', () => {
  const valid: readonly (readonly [value: string, role: string, database: string, host: string])[] = [
    ['postgresql://me:p%40ss@ep-a-1.example.com/shop?sslmode=require', 'me', 'shop', 'ep-a-1.example.com'],
    ['postgres://me@LOCALHOST:54321/shop', 'me', 'shop', '127.0.0.1:54321'],
    ['POSTGRES://me:x@host/shop#main', 'me', 'shop', 'host'],
    ['ecto://me:x@host/shop', 'me', 'shop', 'host'],
    ['postgis://me:x@host/shop', 'me', 'shop', 'host'],
    ['postgresql://me:x@host/shop?sslmode=require\\n', 'me', 'shop', 'host'],
    ['postgresql://me:x@host/shop\\n', 'me', 'shop', 'host'],
    [' postgresql://me:x@host/shop\n', 'me', 'shop', 'host'],
    ['postgresql+psycopg2://a%20b:x@[::1]:5432/d%2Fb', 'a b', 'd/b', '[::1]'],
  ];
  for (const [value, role, database, host] of valid)
    it(`reads ${value}`, () => {
      const read = parseDatabaseUrl(value);
      assert.deepEqual([read?.role, read?.database, read?.host], [role, database, host]);
    });

  for (const value of [
    '',
    'mysql://me:x@host/shop',
    'postgresql://host/shop',
    'postgresql://me:x@one,two/shop',
    'postgresql://me:x@host/',
    'postgresql://me:$PASS@host@other/shop',
    'postgresql://%zz:x@host/shop',
    'postgresql://$USER:x@host/shop',
    'postgresql://me:x@host/shop?host=other',
    'postgresql://me:x@host/shop?sslmode=require&options=endpoint%3Dep-a',
    'postgresql://me:x@host/shop and more',
  ])
    it(`rejects ${value}`, () => assert.equal(parseDatabaseUrl(value), undefined));

  for (const start of ['', 'a:b@h/d', 'a:b@h/d?'])
    it(`takes time that is linear in the length after ${JSON.stringify(start)}`, () => {
      for (const unit of ['a:', '\\n', ' '])
        assertLinear(unit, 300_000, (text) => void parseDatabaseUrl(`postgresql://${start}${text}x x`));
    });
});

describe('databaseUrl', () => {
  const text = fc.string({ unit: 'binary', minLength: 1 });

  it('is read back, with any login, and with another database', () => {
    fc.assert(
      fc.property(
        text,
        fc.option(text, { nil: undefined }),
        text,
        text,
        (role, password, database, other) => {
          const parts = {
            role: role.toWellFormed(),
            password: password?.toWellFormed(),
            host: '127.0.0.1:5433',
          };
          const read = (name: string) => ({
            ...parts,
            database: name.toWellFormed(),
            server: splitHost(parts.host),
          });
          const url = databaseUrl({ ...parts, database });
          assert.deepEqual(parseDatabaseUrl(url), read(database));
          assert.deepEqual(parseDatabaseUrl(withDatabase(url, other)), read(other));
        },
      ),
    );
  });

  it('leaves what pg does not decode in a path as it is', () => {
    const database = 'a&b=c+d,e;f:g@h';
    const url = databaseUrl({ role: 'me', password: 'x', host: '127.0.0.1:5433', database });
    assert.equal(url, `postgresql://me:x@127.0.0.1:5433/${database}`);
    assert.equal(new pg.Client(url).database, database);
    assert.equal(parseDatabaseUrl(url)?.database, database);
    assert.equal(readConnectionUri(url)?.host, '127.0.0.1:5433');
    assert.equal(readConnectionUri('postgresql://me:x@one@two/d'), undefined);
  });

  it('keeps parameters with another database', () => {
    assert.equal(
      withDatabase('postgres://a:b@LOCALHOST/d?x=1#y', 'e f'),
      'postgres://a:b@LOCALHOST/e%20f?x=1#y',
    );
    assert.throws(() => withDatabase('mysql://a:b@h/d', 'e'), TypeError);
  });

  const differences: readonly (readonly [value: string, ofUser: boolean, ofService: boolean, why: string])[] =
    [
      ['postgresql://a:b@h/d', true, true, 'both'],
      ['postgresql+psycopg://a:b@h/d', true, false, 'only programs add their driver'],
      ['postgresql://a@h/d', true, false, 'the service is asked for a password'],
      [
        'postgresql://a:b@h/d?host=other',
        false,
        true,
        'parameters stay in the file, and of the service are dropped',
      ],
      ['postgresql://a:b%0A@h/d', true, false, 'a line break of the service would run in a terminal'],
      ['postgresql://a:b@h/', false, true, 'only the password of the service counts'],
      ['postgresql://a:100%@h/d', true, true, 'a password without encoding'],
      ['postgresql://a:b@one,two/d', false, true, 'the service host is compared with the record'],
    ];
  for (const [value, ofUser, ofService, why] of differences)
    it(`differs in files and from the service: ${value}, because ${why}`, () =>
      assert.deepEqual(
        [parseDatabaseUrl(value) !== undefined, readConnectionUri(value) !== undefined],
        [ofUser, ofService],
      ));
});

describe('replaceUrlTarget', () => {
  const cloud =
    'postgresql://own%20er:n%24ew@ep-two.example.com/a%20b?sslmode=require&channel_binding=require';
  const local = 'postgresql://me:new@127.0.0.1:50000/shop';
  for (const [what, before, url, after] of [
    [
      'the login, host and database',
      'postgres://me:old@one.example.com:5432/shop?schema=app#x',
      cloud,
      'postgres://own%20er:n%24ew@ep-two.example.com/a%20b?sslmode=require&channel_binding=require&schema=app#x',
    ],
    [
      'only the password if only that is new, in any spelling',
      ' ECTO://m%65:old@LOCALHOST:50000/sho%70?ssl=0\\n',
      local,
      ' ECTO://m%65:new@LOCALHOST:50000/sho%70?ssl=0\\n',
    ],
    ['a missing password', 'postgres://me@127.0.0.1/shop', local, 'postgres://me:new@127.0.0.1:50000/shop'],
    [
      'the parameters for TLS of a host on this machine',
      'postgres://me:x@localhost/shop?sslmode=disable&schema=app\\n',
      cloud,
      'postgres://own%20er:n%24ew@ep-two.example.com/a%20b?sslmode=require&channel_binding=require&schema=app\\n',
    ],
    ...['db', 'postgres:5433', 'host.docker.internal', '192.168.1.5', 'db.lan', 'db.example.com'].map(
      (host) =>
        [
          `the parameters for TLS of ${host}, in any network`,
          `postgres://me:x@${host}/shop?sslmode=disable`,
          cloud,
          'postgres://own%20er:n%24ew@ep-two.example.com/a%20b?sslmode=require&channel_binding=require',
        ] as const,
    ),
    [
      'no parameters for TLS by the same ones',
      'postgres://me:x@one/shop?channel_binding=require&a=1&sslmode=require',
      cloud,
      'postgres://own%20er:n%24ew@ep-two.example.com/a%20b?channel_binding=require&a=1&sslmode=require',
    ],
    [
      'the parameters for TLS by none',
      'postgres://me:x@ep-one.example.com/shop?sslmode=require&a=1&channel_binding=require#x',
      local,
      'postgres://me:new@127.0.0.1:50000/shop?a=1#x',
    ],
    [
      'all parameters for TLS, of any client, by none',
      'postgres://me:x@ep-one.example.com/shop?sslmode=verify-full&sslrootcert=system&a=1&sslnegotiation=direct&channelBinding=require&requiressl=1',
      local,
      'postgres://me:new@127.0.0.1:50000/shop?a=1',
    ],
    [
      'the only parameter',
      'postgres://me:x@ep-one.example.com/shop?sslmode=require',
      local,
      'postgres://me:new@127.0.0.1:50000/shop',
    ],
    [
      'the parameters for TLS of another spelling of this machine',
      'postgres://me:x@ep-one.example.com/shop?sslmode=require',
      'postgresql://me:new@[::1]:50000/shop',
      'postgres://me:new@[::1]:50000/shop',
    ],
    ['no other text', 'mysql://me:x@localhost/shop', local, undefined],
  ] as const)
    it(`replaces ${what}`, () => assert.equal(replaceUrlTarget(before, url), after));
});
