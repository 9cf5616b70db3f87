import assert from 'node:assert/strict';
import fc from 'fast-check';
import { markdown, plain } from '../../../src/ui/plain.ts';
import { redact } from '../../../src/ui/redact.ts';

describe('plain', () => {
  it('leaves no link of a notification in any text', () => {
    // VS Code's own pattern for links in notifications.
    const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)/i;
    const part = fc.constantFrom('[', ']', '(', ')', 'x', 'command:y', ' ', '\n', '\u0000', 'https://z');
    fc.assert(
      fc.property(fc.array(part), (parts) => assert.doesNotMatch(plain(parts.join('')), link)),
      { numRuns: 2000 },
    );
  });

  it('keeps to one line of bounded length, without characters that turn text around', () => {
    assert.equal(plain('a\r\nb\u202ec'), 'a b c');
    assert.equal(plain('x'.repeat(10_000)).length, 500);
  });

  it('leaves no icon of a list or status bar in any text', () => {
    assert.doesNotMatch(plain('$(trash) $$(trash) $(sync~spin)'), /\$\(/);
  });

  it('takes out what hides or turns text, and half characters', () => {
    assert.equal(plain('a\u061cb\u200bc\u2066d\ufeffe\u2028f\ud800'), 'a b c d e f\ufffd');
  });

  it('leaves ordinary names as they are', () => {
    assert.equal(plain('Shop (EU) – [prod] #1 “β”'), 'Shop (EU) – [prod] #1 “β”');
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
    it(`shows ${text} as it is`, () => assert.equal(markdown(text), escaped));
  }
});

describe('redact', () => {
  it('takes out what is known to be secret, wherever it stands', () => {
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
    it(`takes the secret out of ${text}`, () => {
      const clean = redact(text);
      assert.match(clean, /‹redacted›/);
      assert.doesNotMatch(clean, /abc\.def|napi_0|hunter2/);
    });
  }

  it('leaves the rest of a text alone', () => {
    const text = 'GET /projects/shop/endpoints: status 404 at https://console.example.test:8443/api/v2';
    assert.equal(redact(text), text);
  });
});
