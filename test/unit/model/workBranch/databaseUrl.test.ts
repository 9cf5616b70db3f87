import assert from 'node:assert/strict';
import { parseDatabaseUrl, replaceHost } from '../../../../src/model/workBranch/databaseUrl.ts';
import { assertLinear } from '../../../helpers/assertLinear.ts';

describe('parseDatabaseUrl', () => {
  const valid: readonly (readonly [value: string, role: string, database: string, host: string])[] = [
    ['postgresql://me:p%40ss@ep-a-1.example.com/shop?sslmode=require', 'me', 'shop', 'ep-a-1.example.com'],
    ['postgres://me@LOCALHOST:54321/shop', 'me', 'shop', '127.0.0.1:54321'],
    ['postgresql+psycopg2://a%20b:x@[::1]:5432/d%2Fb', 'a b', 'd/b', '[::1]'],
  ];
  for (const [value, role, database, host] of valid)
    it(`reads ${value}`, () => assert.deepEqual(parseDatabaseUrl(value), { role, database, host }));

  for (const value of [
    '',
    'mysql://me:x@host/shop',
    'postgresql://host/shop',
    'postgresql://me:x@one,two/shop',
    'postgresql://me:x@host/',
    'postgresql://me:$PASS@host@other/shop',
    'postgresql://%zz:x@host/shop',
    'postgresql://me:x@host/shop and more',
  ])
    it(`rejects ${value}`, () => assert.equal(parseDatabaseUrl(value), undefined));

  it('takes time that is linear in the length', () => {
    assertLinear('a:', 20_000, (text) => void parseDatabaseUrl(`postgresql://${text}`));
  });
});

describe('replaceHost', () => {
  it('keeps role, database and parameters', () => {
    const before = 'postgres://me:old@one.example.com:5432/shop?sslmode=require&schema=app#x';
    assert.equal(
      replaceHost(before, '127.0.0.1:50000', 'n%24ew'),
      'postgres://me:n%24ew@127.0.0.1:50000/shop?sslmode=require&schema=app#x',
    );
    assert.equal(replaceHost('postgres://me@one/shop', 'two', '$1'), 'postgres://me:$1@two/shop');
  });
});
