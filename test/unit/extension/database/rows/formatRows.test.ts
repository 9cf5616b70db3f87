import assert from 'node:assert/strict';
import { tableLines } from '../../../../../src/extension/database/rows/formatRows.ts';

describe('Rows as text', () => {
  const cases: readonly (readonly [value: string | null, text: string])[] = [
    [null, 'NULL'],
    ['NULL', "'NULL'"],
    ['null', "'null'"],
    ['', "''"],
    [' a', "' a'"],
    ['a ', "'a '"],
    ["'a'", "'''a'''"],
    ["it's", "it's"],
    // Nothing looks like a separator, a sign for another character, a space, or nothing.
    ['a │ b', "'a │ b'"],
    ["a' │ b", "'a'' │ b'"],
    ['abc…', "'abc…'"],
    [' 12345678', "' 1234567'…"],
    ['␀‹U+', '‹U+2400›‹U+2039›U+'],
    ['a\u00a0b\u3000', 'a‹U+00A0›b‹U+3000›'],
    ['\u3164\u115f\u034f\u2800', '‹U+3164›‹U+115F›‹U+034F›‹U+2800›'],
    ['a\tb\r\n', 'a␉b␍␊'],
    ['\u0000\u007f', '␀␡'],
    ['a\u202eb\u2028\u200b', 'a‹U+202E›b‹U+2028›‹U+200B›'],
    ['1234567890', '12345678…'],
    ['1234567🐘', '1234567\ufffd…'],
  ];
  for (const [value, text] of cases)
    it(`shows ${JSON.stringify(value)} as ${text}`, () =>
      assert.equal(tableLines({ columns: ['a'], rows: [[value]] }, 8)[2], text));

  it('is aligned also with wide characters and marks', () => {
    const table = {
      columns: ['id', '名前'],
      rightAligned: new Set([0]),
      rows: [
        ['1', '漢字かな'],
        ['22', 'e\u0301'],
        [null, '🐘'],
      ],
    };
    assert.deepEqual(tableLines(table, 50), [
      '  id │ 名前',
      '─────┼─────────',
      '   1 │ 漢字かな',
      '  22 │ e\u0301',
      'NULL │ 🐘',
    ]);
  });
});
