import assert from 'node:assert/strict';
import { redact } from '../../../../src/ui/log/redact.ts';

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
