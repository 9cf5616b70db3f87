import assert from 'node:assert/strict';
import fc from '../../../helpers/fastCheck.ts';
import {
  directHost,
  isHost,
  isLocalHost,
  isSameHost,
  normalizeHost,
  splitHost,
} from '../../../../src/api/addresses/host.ts';

const PIECES = '@ : / ? # & , = \\ %40 [ ] good.example :5432 ::1 :70000'.split(' ');
const text = fc.array(fc.constantFrom('\n', ' ', ...PIECES), { maxLength: 5 }).map((parts) => parts.join(''));

describe('isSameHost', () => {
  it('ignores letter case, the default port and the name of this machine', () => {
    assert.ok(isSameHost('EP-1.example:5432', 'ep-1.example'));
    assert.ok(isSameHost('LocalHost:5433', '127.0.0.1:5433'));
    for (const other of [
      'ep-1.example.org',
      'ep-1-pooler.example',
      'ep-1.example:6432',
      'ep-1.example,other',
    ])
      assert.ok(!isSameHost(other, 'ep-1.example'), other);
  });
});

describe('isHost', () => {
  it('accepts only text', () => {
    assert.ok(isHost('good.example'));
    assert.ok(!isHost(['good.example']));
  });

  it('accepts only ports that exist', () => {
    assert.ok(isHost('good.example:65535'));
    assert.ok(!isHost('good.example:65536'));
  });

  it('accepts only addresses that exist in brackets', () => {
    assert.ok(isHost('[::1]:5432'));
    assert.ok(!isHost('[:70000]'));
  });

  it('accepts nothing that ends the host in a URI', () => {
    fc.assert(
      fc.property(text, (host) => {
        if (isHost(host)) assert.equal(new URL(`postgresql://u:p@${host}/d`).pathname, '/d');
      }),
    );
  });
});

describe('a host', () => {
  const hosts: readonly (readonly [
    host: string,
    same: string,
    name: string,
    port: number,
    isLocal: boolean,
  ])[] = [
    ['EP-a-1.example.com', 'ep-a-1.example.com', 'EP-a-1.example.com', 5432, false],
    ['ep-a-1.example.com:5432', 'ep-a-1.example.com', 'ep-a-1.example.com', 5432, false],
    ['LOCALHOST:54321', '127.0.0.1:54321', 'LOCALHOST', 54_321, true],
    ['localhost.example.com', 'localhost.example.com', 'localhost.example.com', 5432, false],
    ['127.0.0.1:15432', '127.0.0.1:15432', '127.0.0.1', 15_432, true],
    ['[::1]:5433', '[::1]:5433', '::1', 5433, true],
  ];
  for (const [host, same, name, port, isLocal] of hosts)
    it(`${host} is compared, split and known to be on this machine or not`, () =>
      assert.deepEqual(
        [normalizeHost(host), splitHost(host), isLocalHost(host)],
        [same, { name, port }, isLocal],
      ));

  it('of a pooler leads to the compute behind it', () => {
    const pooled = ['ep-a-1-pooler.eu.example.com:5432', 'ep-a-1-pooler', 'ep-a-pooler-1.example.com'];
    assert.deepEqual(pooled.map(directHost), [
      'ep-a-1.eu.example.com:5432',
      'ep-a-1',
      'ep-a-pooler-1.example.com',
    ]);
  });
});
