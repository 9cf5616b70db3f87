import assert from 'node:assert/strict';
import { tableLines } from '../../../../src/extension/rows/formatRows.ts';

describe('Rows as text', () => {
  const cases: readonly (readonly [value: string | null, text: string])[] = [
    [null, 'NULL'],
    ['NULL', "'NULL'"],
    ['null', "'null'"],
    ['', "''"],
    [' a', "' a'"],
    ['a ', "'a '"],
    ["'a'", "''a''"],
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
