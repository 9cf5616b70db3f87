import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hostOfUri, isConnectionUri, isHost, isSameHost } from '../../../../src/api/records/connectionUri.ts';

/** Pieces that parsers of URIs read in different ways when they come in an odd place. */
const PIECES = '@ : / ? # & , = \\ %0A %40 [ ] user pass good.example other.example :5432 host= hostaddr ::1';
const pieces = fc.array(fc.constantFrom('\n', '\t', ' ', ...PIECES.split(' ')), { maxLength: 5 });
const text = pieces.map((parts) => parts.join(''));

describe('a connection URI', () => {
  it('that is accepted for a host leads every reader there, on one line', () => {
    let accepted = 0;
    fc.assert(
      fc.property(text, text, text, text, (user, host, database, query) => {
        const uri = `postgresql://u${user}:p@good.example${host}/d${database}?${query}`;
        if (!isConnectionUri(uri) || !isSameHost(hostOfUri(uri), 'good.example')) return;
        accepted += 1;
        assert.doesNotMatch(uri, /\s/);
        const url = new URL(uri);
        assert.equal(url.host.replace(/:5432$/, ''), 'good.example');
        assert.equal(uri.split('@').length, url.search.split('@').length + 1, 'a second login');
        for (const name of url.searchParams.keys()) assert.doesNotMatch(name, /^(?:host|hostaddr|port)$/);
      }),
      { numRuns: 5000 },
    );
    assert.ok(accepted > 0);
  });
});

describe('isHost', () => {
  it('accepts nothing that ends the host in a URI', () => {
    fc.assert(
      fc.property(text, (host) => {
        if (isHost(host)) assert.equal(new URL(`postgresql://u:p@${host}/d`).pathname, '/d');
      }),
    );
  });
});
