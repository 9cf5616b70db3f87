import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isEqual } from '../../../src/base/equal.ts';

describe('isEqual', () => {
  it('agrees with a deep comparison of any two JSON values', () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(json, json, (a, b) => {
        let same = true;
        try {
          assert.deepStrictEqual(a, b);
        } catch {
          same = false; // They differ.
        }
        assert.equal(isEqual(a, b), same);
        assert.equal(isEqual(a, structuredClone(a)), true);
      }),
    );
  });

  const different: readonly [unknown, unknown][] = [
    [[], {}],
    [{}, []],
    [{}, null],
    [null, {}],
    ['a', ['a']],
    [['a'], 'a'],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: 1 }, { a: 2 }],
    [[1], [1, 2]],
    [
      [1, 2],
      [1, 3],
    ],
  ];
  for (const [a, b] of different)
    it(`distinguishes ${JSON.stringify(a)} from ${JSON.stringify(b)}`, () =>
      assert.equal(isEqual(a, b), false));

  it('ignores the order of properties', () => {
    assert.equal(isEqual({ a: 1, b: [2] }, { b: [2], a: 1 }), true);
  });
});
