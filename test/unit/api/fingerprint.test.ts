import assert from 'node:assert/strict';
import { fingerprintOf } from '../../../src/api/fingerprint.ts';

const pieces = (...texts: string[]) => texts.map((text) => Buffer.from(text));

describe('a fingerprint', () => {
  it('is the same for the same bytes, in however many pieces they came', () => {
    const whole = fingerprintOf(pieces('{"endpoints":[]}'));
    assert.equal(fingerprintOf(pieces('{"endp', '', 'oints":[]}')), whole);
    assert.equal(fingerprintOf(pieces('{"endpoints":[]}', '')), whole);
  });

  it('is another one for any other bytes', () => {
    const texts = ['', ' ', '{}', '{} ', ' {}', '[]', '{"a":1}', '{"a":2}', '{"b":1}', '\uFEFF{}'];
    assert.equal(new Set(texts.map((text) => fingerprintOf(pieces(text)))).size, texts.length);
    assert.notEqual(fingerprintOf(pieces('ab', 'c')), fingerprintOf(pieces('c', 'ab')));
  });
});
