import assert from 'node:assert/strict';
import { namesIn } from '../../../../src/extension/sql/sqlNames.ts';
import { assertLinear } from '../../../helpers/assertLinear.ts';

describe('The names in a statement', () => {
  for (const [sql, all] of [
    ['select A, "B""c" from d$1.é', 'select A="B"c from d$1 é'],
    ["e'\\'a' b E'''\\\\'c", 'b c'],
    ["'\\'b n'c', u&'\\' d", 'b n d'],
    ['$$ a $$ b $c$ $$ d $ $c$ e $1', 'b e'],
    ['a--b\rc /* d /* e */ f */ g --', 'a c g'],
    ['1a 1e5b', 'a e5b'],
  ] as const)
    it(`are found in ${JSON.stringify(sql)}`, () => {
      assert.equal(namesIn(sql).all.join(' '), all.replace('A="B"c', 'a B"c'));
    });

  it('are called before a parenthesis, and after a dot they may be', () => {
    const { called, dotted, symbols } = namesIn('f /* ( */ (a) + (b) --\n . /* */ "C", d.e (g)[1].h');
    assert.deepEqual(called, ['f', 'e']);
    assert.deepEqual(dotted, ['C', 'e', 'h']);
    assert.match(symbols, /^ \( \)\+\( \)\. , \. \( \)\[1\]\. $/);
  });

  it('are not guessed', () => {
    for (const sql of ["'a", "'a''", '"a', '$a$ $b$', '/* /* */', 'U&"a"', "e'a'\n'\\' b --'", "'a' --\n'b'"])
      assert.throws(() => namesIn(sql), /character|not allowed|Write one string/, sql);
  });

  it('take time in proportion to the statement', () => {
    for (const unit of ["''", "e'\\'", '/* ', '-- /*\n', '$a$ $b$ ', 'a.', '"" ', ' '])
      assertLinear(unit, 20_000, (text) => {
        try {
          namesIn(text);
        } catch {
          // Unclear.
        }
      });
  });
});
