import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hostOfUri, isConnectionUri, isHost, isSameHost } from '../../../../src/api/records/connectionUri.ts';

/** Strings that URI parsers interpret differently in unusual places. */
const PIECES = '@ : / ? # & , = \\ %0A %40 [ ] user pass good.example other.example :5432 host= hostaddr ::1';
const pieces = fc.array(fc.constantFrom('\n', '\t', ' ', ...PIECES.split(' ')), { maxLength: 5 });
const text = pieces.map((parts) => parts.join(''));

describe('isConnectionUri and hostOfUri', () => {
  it('accept only URIs that lead each parser to the same host, without line breaks', () => {
    let accepted = 0;
    fc.assert(
      fc.property(text, text, text, text, (user, host, database, query) => {
        const uri = `postgresql://u${user}:p@good.example${host}/d${database}?${query}`;
        if (!isConnectionUri(uri) || !isSameHost(hostOfUri(uri), 'good.example')) return;
        accepted += 1;
        assert.doesNotMatch(uri, /\s/);
        const url = new URL(uri);
        assert.equal(url.host.replace(/:5432$/, ''), 'good.example');
        assert.equal(uri.split('@').length, url.search.split('@').length + 1, 'two logins');
        for (const name of url.searchParams.keys()) assert.doesNotMatch(name, /^(?:host|hostaddr|port)$/);
      }),
      { numRuns: 5000 },
    );
    assert.ok(accepted > 0);
  });
});

describe('hostOfUri', () => {
  const start = 'postgresql://u:p@good.example';
  const rows = [
    [`${start}:6432/d`, 'good.example:6432'],
    [`${start}/d?sslmode=require`, 'good.example'],
    ...['host', 'hostaddr', 'port', 'service', 'servicefile', 'Host'].map(
      (name) => [`${start}/d?a=b&${name}=x`, `?a=b&${name}=x`] as const,
    ),
    ['not a URI', ''],
  ] as const;
  for (const [uri, host] of rows) it(`${uri}: ${host}`, () => assert.equal(hostOfUri(uri), host));
});

describe('isHost', () => {
  it('accepts only text', () => {
    assert.ok(isHost('good.example'));
    assert.ok(!isHost(['good.example']));
    assert.ok(!isConnectionUri(['postgresql://u:p@good.example/d']));
  });

  it('accepts nothing that ends the host in a URI', () => {
    fc.assert(
      fc.property(text, (host) => {
        if (isHost(host)) assert.equal(new URL(`postgresql://u:p@${host}/d`).pathname, '/d');
      }),
    );
  });
});
