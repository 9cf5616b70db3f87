import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isSameBytes } from '../../../../src/api/transport/replyBytes.ts';

const pieces = (...texts: string[]) => texts.map((text) => Buffer.from(text));
/** Cut at random places, with empty pieces among them. */
const cut = (bytes: Uint8Array, at: readonly number[]) => {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.slice(places[index], end));
};
const places = fc.array(fc.nat(), { maxLength: 6 });

describe('The bytes of two replies', () => {
  it('are the same when they are, in however many pieces they came', () => {
    assert.equal(isSameBytes([], pieces('', '')), true);
    const property = fc.property(fc.uint8Array({ maxLength: 40 }), places, places, (bytes, one, other) =>
      isSameBytes(cut(bytes, one), cut(bytes, other)),
    );
    fc.assert(property);
  });

  it('are not when any byte differs, is missing or stands elsewhere', () => {
    assert.equal(isSameBytes(pieces('{}'), []), false);
    assert.equal(isSameBytes(pieces('{}'), pieces('{}', ' ')), false);
    assert.equal(isSameBytes(pieces('ab', 'c'), pieces('c', 'ab')), false);
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });
    const property = fc.property(bytes, fc.nat(), places, places, (original, at, one, other) => {
      const changed = original.slice();
      changed[at % changed.length] = (original[at % original.length] ?? 0) ^ 1;
      return !isSameBytes(cut(original, one), cut(changed, other));
    });
    fc.assert(property);
  });
});
