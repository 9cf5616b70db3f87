import assert from 'node:assert/strict';
import fc from '../../../helpers/fastCheck.ts';
import { hostAtPosition, looksLikeCompute } from '../../../../src/extension/connection/hostAtPosition.ts';

/** What is found at `|`: host, and port after a space. */
function mentionedIn(marked: string): string | undefined {
  const mention = hostAtPosition(marked.replace('|', ''), marked.indexOf('|'));
  return mention && [mention.host, mention.port].filter((part) => part !== undefined).join(' ');
}

const found: readonly (readonly [line: string, mention: string])[] = [
  ['ep-little-|smoke-851426', 'ep-little-smoke-851426'],
  ['|ep-little-smoke-851426', 'ep-little-smoke-851426'],
  ['ep-little-smoke-851426|', 'ep-little-smoke-851426'],
  ['Restart "ep-little|-smoke-851426".', 'ep-little-smoke-851426'],
  ['see ep-little-smoke-851426|.', 'ep-little-smoke-851426'],
  ['PGHOST=EP-Little-Smoke-1.|Example.com', 'ep-little-smoke-1.example.com'],
  ['postgresql://me:secret@ep-a-1|.example.com:5432/shop', 'ep-a-1.example.com 5432'],
  ['postgresql://me:secret@ep-a-1.example.com:54|32/shop', 'ep-a-1.example.com 5432'],
  ['postgresql://me@127.0.|0.1:15432/app', '127.0.0.1 15432'],
  ['postgresql://me@127.0.0.1|:15432/app', '127.0.0.1 15432'],
  ['127.0.0.1:15432|', '127.0.0.1 15432'],
  ['{"host":"ep-a-|1"}', 'ep-a-1'],
  ['one.example.com,tw|o.example.com:5433', 'two.example.com 5433'],
  ['ep-a-1:notaport|', 'notaport'],
];

describe('hostAtPosition', () => {
  for (const [line, mention] of found) {
    it(`finds a host in ${line}`, () => assert.equal(mentionedIn(line), mention));
  }

  for (const line of ['|', ' | ', '== | ==', 'ep-a-1 |= 5', '-|-', `${'a'.repeat(300)}|`]) {
    it(`finds none in ${JSON.stringify(line)}`, () => assert.equal(mentionedIn(line), undefined));
  }

  it('returns the ranges of host and port', () => {
    const ranges = { host: '127.0.0.1', port: '15432', start: 3, end: 12, portEnd: 18 };
    assert.deepEqual(hostAtPosition('at 127.0.0.1:15432/app', 5), ranges);
  });

  it('returns a range within the line that covers the position', () => {
    const piece = fc.constantFrom('ep-a-1', '.', ':', '54', '@', '/', ' ', '-', '_', 'x', 'é');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(80), (pieces, at) => {
        const line = pieces.join('');
        const column = Math.min(at, line.length);
        const mention = hostAtPosition(line, column);
        if (mention === undefined) return;
        const { host, port, start, end, portEnd } = mention;
        assert.equal(line.slice(start, end).toLowerCase(), host);
        assert.equal(line.slice(end, portEnd), port === undefined ? '' : `:${port}`);
        assert.ok(start <= column && column <= portEnd);
      }),
    );
  });

  it('finds a host of up to 253 characters from any position in it', () => {
    const host = `${'a'.repeat(249)}.com`;
    for (const column of [0, 100, 253]) assert.equal(hostAtPosition(host, column)?.host, host);
    for (const column of [0, 100, 254]) assert.equal(hostAtPosition(`a${host}`, column), undefined);
  });

  it('may be a compute if it has such a name', () => {
    assert.equal(looksLikeCompute('ep-little-smoke-851426'), true);
    assert.equal(looksLikeCompute('ep-little-smoke-851426.eu-central-1.example.com'), true);
    assert.equal(looksLikeCompute('ep-'), false);
    assert.equal(looksLikeCompute('step-by-step'), false);
    assert.equal(looksLikeCompute('127.0.0.1'), false);
  });
});
