import assert from 'node:assert/strict';
import fc from 'fast-check';
import { escapeMarkdown, sanitize } from '../../../src/ui/sanitize.ts';
import { redact } from '../../../src/ui/redact.ts';

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

describe('redact', () => {
  it('removes known secrets', () => {
    assert.equal(redact('a s3cr3t, s3cr3t!', ['s3cr3t', '']), 'a ‹redacted›, ‹redacted›!');
  });

  const rows = [
    'authorization: Bearer abc.def-123',
    'the key napi_0123456789abcdef was refused',
    'postgresql://app:hunter2@ep-x.example.test/db',
    '{"api_key":"hunter2","name":"x"}',
    '{"key": "hunter2"}',
    'password="hunter2"',
  ];
  for (const text of rows) {
    it(`redacts ${text}`, () => {
      const clean = redact(text);
      assert.match(clean, /‹redacted›/);
      assert.doesNotMatch(clean, /abc\.def|napi_0|hunter2/);
    });
  }

  it('leaves other text unchanged', () => {
    const text = 'GET /projects/shop/endpoints: status 404 at https://console.example.test:8443/api/v2';
    assert.equal(redact(text), text);
  });
});
