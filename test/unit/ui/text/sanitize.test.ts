import assert from 'node:assert/strict';
import fc from 'fast-check';
import { escapeMarkdown, nameOrId, sanitize } from '../../../../src/ui/text/sanitize.ts';

describe('plain', () => {
  it('breaks links in notifications', () => {
    // VS Code's own pattern for links in notifications.
    const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)/i;
    const part = fc.constantFrom('[', ']', '(', ')', 'x', 'command:y', ' ', '\n', '\u0000', 'https://z');
    fc.assert(
      fc.property(fc.array(part), (parts) => assert.doesNotMatch(sanitize(parts.join('')), link)),
      { numRuns: 2000 },
    );
  });

  it('returns one line of limited length without bidi characters', () => {
    assert.equal(sanitize('a\r\nb\u202ec'), 'a b c');
    assert.equal(sanitize('x'.repeat(10_000)).length, 500);
  });

  it('limits the length', () => {
    assert.equal(sanitize('x'.repeat(50), 40), `${'x'.repeat(39)}…`);
  });

  it('breaks icons', () => {
    assert.doesNotMatch(sanitize('$(trash) $$(trash) $(sync~spin)'), /\$\(/);
  });

  it('removes invisible characters and lone surrogates', () => {
    assert.equal(sanitize('a\u061cb\u200bc\u2066d\ufeffe\u2028f\ud800'), 'a b c d e f\ufffd');
  });

  it('leaves ordinary names unchanged', () => {
    assert.equal(sanitize('Shop (EU) – [prod] #1 “β”'), 'Shop (EU) – [prod] #1 “β”');
  });
});

describe('nameOrId', () => {
  it('returns the id if the name has nothing to show', () => {
    assert.equal(nameOrId(' shop ', 'p-1'), 'shop');
    for (const name of [undefined, null, '', ' ', '\u200b']) assert.equal(nameOrId(name, 'p-1'), 'p-1');
  });
});

describe('markdown', () => {
  const rows = [
    [
      '[x](command:hostedPostgres.compute.delete)',
      '\\[x\\]\\(command\\:hostedPostgres\\.compute\\.delete\\)',
    ],
    ['<img src=x>', '&lt;img src=x\\>'],
    ['a|b', 'a\\|b'],
    ['$(trash)', '\\$\\(trash\\)'],
    ['`rm`', '\\`rm\\`'],
    ['&lt;', '&amp;lt;'],
  ] as const;
  for (const [text, escaped] of rows) {
    it(`escapes ${text}`, () => assert.equal(escapeMarkdown(text), escaped));
  }
});
