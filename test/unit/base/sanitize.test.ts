import assert from 'node:assert/strict';
import fc from '../../helpers/fastCheck.ts';
import { displayName, escapeMarkdown, nameOrId, sanitize } from '../../../src/base/sanitize.ts';

describe('sanitize', () => {
  it('breaks links in notifications', () => {
    // VS Code's own pattern for links in notifications.
    const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)/i;
    const part = fc.constantFrom('[', ']', '(', ')', 'x', 'command:y', ' ', '\n', '\u0000', 'https://z');
    fc.assert(
      fc.property(fc.array(part), (parts) => assert.doesNotMatch(sanitize(parts.join('')), link)),
      { numRuns: 2000 },
    );
  });

  for (const [what, text, clean] of [
    ['joins lines and removes bidi characters', 'a\r\nb\u202ec', 'a b c'],
    [
      'removes invisible characters and lone surrogates',
      'a\u061cb\u200bc\u2066d\ufeffe\u2028f\ud800',
      'a b c d e f\ufffd',
    ],
    ['breaks icons', '$(trash) $$(trash)', '$ (trash) $$ (trash)'],
    ['limits the length', 'x'.repeat(10_000), `${'x'.repeat(499)}…`],
    ['leaves the longest text unchanged', 'x'.repeat(500), 'x'.repeat(500)],
    ['leaves ordinary names unchanged', 'Shop (EU) – [prod] #1 “β”', 'Shop (EU) – [prod] #1 “β”'],
  ] as const)
    it(what, () => assert.equal(sanitize(text), clean));
});

describe('nameOrId and displayName', () => {
  it('return the id if the name has no visible characters', () => {
    assert.equal(nameOrId(' shop ', 'p-1'), 'shop');
    assert.equal(displayName({ id: 7, name: '\u200b' }), '7');
    for (const name of [undefined, null, '', ' ', '\u200b']) assert.equal(nameOrId(name, 'p-1'), 'p-1');
  });
});

describe('escapeMarkdown', () => {
  for (const [text, escaped] of [
    ['[x](command:a.b)', '\\[x\\]\\(command\\:a\\.b\\)'],
    ['<img src=x>', '&lt;img src=x\\>'],
    ['a|b', 'a\\|b'],
    ['$(trash)', '\\$\\(trash\\)'],
    ['`rm`', '\\`rm\\`'],
    ['&lt;', '&amp;lt;'],
  ] as const)
    it(`escapes ${text}`, () => assert.equal(escapeMarkdown(text), escaped));
});
