import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isHost, isSameHost, readConnectionUri } from '../../../../src/api/records/connectionUri.ts';

/** Strings that URI parsers interpret differently in unusual places. */
const PIECES = '@ : / ? # & , = \\ %0A %40 [ ] user pass good.example other.example :5432 ::1 :70000';
const pieces = fc.array(fc.constantFrom('\n', '\t', ' ', ...PIECES.split(' ')), { maxLength: 5 });
const text = pieces.map((parts) => parts.join(''));

describe('readConnectionUri', () => {
  it('reads only URIs with one host, and passwords without control characters', () => {
    let accepted = 0;
    fc.assert(
      fc.property(text, text, text, text, (user, password, host, database) => {
        const uri = `postgresql://u${user}:p${password}@good.example${host}/d${database}`;
        const read = readConnectionUri(uri);
        if (read === undefined || !isSameHost(read.host, 'good.example')) return;
        accepted += 1;
        assert.doesNotMatch(read.credentials.password, /\p{Cc}/u);
        assert.equal(uri.split('?')[0]?.split('@').length, 2, 'two logins');
      }),
      { numRuns: 5000 },
    );
    assert.ok(accepted > 0);
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

  it('accepts nothing that ends the host in a URI', () => {
    fc.assert(
      fc.property(text, (host) => {
        if (isHost(host)) assert.equal(new URL(`postgresql://u:p@${host}/d`).pathname, '/d');
      }),
    );
  });
});
