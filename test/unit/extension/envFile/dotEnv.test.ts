import assert from 'node:assert/strict';
import { parseEnv } from 'node:util';
import fc from '../../../helpers/fastCheck.ts';
import { getVariable, keepFormerValue, changeOfVariable } from '../../../../src/extension/envFile/dotEnv.ts';
import { assertLinear } from '../../../helpers/assertLinear.ts';

function set(file: string, value: string): string {
  const { start, end, text } = changeOfVariable(file, 'DATABASE_URL', value);
  return file.slice(0, start) + text + file.slice(end);
}

const url = 'postgresql://me:p%40ss@ep-a-1.example.com/shop?sslmode=require';

const cases: readonly (readonly [what: string, before: string, after: string])[] = [
  ['an empty file', '', `DATABASE_URL=${url}\n`],
  ['a file without it', 'A=1\n', `A=1\nDATABASE_URL=${url}\n`],
  ['a file that does not end with a line break', 'A=1', `A=1\nDATABASE_URL=${url}\n`],
  ['a file with Windows line ends', 'A=1\r\nB=2', `A=1\r\nB=2\r\nDATABASE_URL=${url}\r\n`],
  ['an assignment', 'A=1\nDATABASE_URL=old\nB=2\n', `A=1\nDATABASE_URL=${url}\nB=2\n`],
  ['an assignment with Windows line ends', 'DATABASE_URL=old\r\nB=2\r\n', `DATABASE_URL=${url}\r\nB=2\r\n`],
  ['an empty assignment', 'DATABASE_URL=\nB=2\n', `DATABASE_URL=${url}\nB=2\n`],
  ['an assignment at the end of the file', 'DATABASE_URL=', `DATABASE_URL=${url}`],
  ['one after a byte order mark', '\ufeffDATABASE_URL=old\n', `\ufeffDATABASE_URL=${url}\n`],
  ['an exported one', 'export DATABASE_URL=old\n', `export DATABASE_URL=${url}\n`],
  ['one with spaces', '  DATABASE_URL = old\n', `  DATABASE_URL = ${url}\n`],
  ['a quoted one', 'DATABASE_URL="old # one"\n', `DATABASE_URL="${url}"\n`],
  ['a single-quoted one', "DATABASE_URL='old' # why\n", `DATABASE_URL='${url}' # why\n`],
  ['one with escaped quotes', 'DATABASE_URL="o\\"ld"\nB=2\n', `DATABASE_URL="${url}"\nB=2\n`],
  ['one over several lines', 'DATABASE_URL="a\nb"\nB=2\n', `DATABASE_URL="${url}"\nB=2\n`],
  ['an empty one with a comment behind it', 'DATABASE_URL= # why\n', `DATABASE_URL=${url} # why\n`],
  ['one in the form of a map', 'DATABASE_URL: old\n', `DATABASE_URL: ${url}\n`],
  ['one after a no-break space', 'DATABASE_URL=\u00a0old\n', `DATABASE_URL=\u00a0${url}\n`],
  ['one with spaces', 'DATABASE_URL=a b c\nB=2\n', `DATABASE_URL=${url}\nB=2\n`],
  ['one with a comment behind it', 'DATABASE_URL=old  # why\n', `DATABASE_URL=${url}  # why\n`],
  ['one with a hash inside', 'DATABASE_URL=a#b\n', `DATABASE_URL=${url}\n`],
  ['one of several parts', 'DATABASE_URL="u:"$PASS"@h # d"\nB=2\n', `DATABASE_URL=${url}\nB=2\n`],
  ['a quoted one with text behind it', "DATABASE_URL='a' b\r\nB=2", `DATABASE_URL=${url}\r\nB=2`],
  ['an unclosed quote', 'DATABASE_URL="a # b\nB="two"\n', `DATABASE_URL=${url}\nB="two"\n`],
  ['an unclosed quote at the end', "B='x'\nDATABASE_URL='a", `B='x'\nDATABASE_URL=${url}`],
  ["another one's unclosed quote", 'B="a\nDATABASE_URL="old"\n', `B="a\nDATABASE_URL="${url}"\n`],
  ['a commented one', '# DATABASE_URL=old\n', `# DATABASE_URL=old\nDATABASE_URL=${url}\n`],
  ['the last of several', 'DATABASE_URL=a\nDATABASE_URL=b\n', `DATABASE_URL=a\nDATABASE_URL=${url}\n`],
  [
    'others of like names',
    'MY_DATABASE_URL=a\nDATABASE_URL_2=b\n',
    `MY_DATABASE_URL=a\nDATABASE_URL_2=b\nDATABASE_URL=${url}\n`,
  ],
  ['its name inside a value', 'A="x\nDATABASE_URL=y\n"\n', `A="x\nDATABASE_URL=y\n"\nDATABASE_URL=${url}\n`],
];

describe('changeOfVariable', () => {
  for (const [what, before, after] of cases) {
    it(`replaces or follows ${what}`, () => assert.equal(set(before, url), after));
  }

  for (const unit of [
    'DATABASE_URL=\n',
    'A="\nDATABASE_URL=\n"\n',
    '  ',
    'export ',
    'A= # \n',
    'A="\\"',
    'A="x\n',
    "A='x'y\n",
  ]) {
    it(`takes linear time in a file of ${JSON.stringify(unit)}`, () =>
      assertLinear(unit, 2000, (text) => changeOfVariable(text, 'DATABASE_URL', url)));
  }

  it('quotes a value that a shell would change', () => {
    assert.equal(set('', 'postgresql://h/d?a=b&c=d'), "DATABASE_URL='postgresql://h/d?a=b&c=d'\n");
    assert.equal(set('', "it's $HOME"), 'DATABASE_URL="it\'s \\$HOME"\n');
    assert.equal(set('', ''), 'DATABASE_URL=\n');
  });

  it('reports whether the old form cannot hold the value', () => {
    const rich = `${url}&channel_binding=require`;
    for (const [before, value, isRequoted] of [
      ['', rich, false],
      ['DATABASE_URL=\n', rich, false],
      ['DATABASE_URL="old"\n', rich, false],
      ['DATABASE_URL=old\n', url, false],
      ['DATABASE_URL=old\n', rich, true],
      ['DATABASE_URL=a#b\n', url, true],
      ['DATABASE_URL="a"$B\n', url, true],
      ["DATABASE_URL='old'\n", "it's", true],
      ['DATABASE_URL=postgres://me:x@ep-b.example.com/shop?a=1&b=2#main\n', rich, false],
      ['DATABASE_URL=postgres://me:x@localhost/shop?a=1\n', url, true],
      ['DATABASE_URL=postgres://me:x@localhost/shop?a=1&b=2\n', url, false],
    ] as const) {
      const change = changeOfVariable(before, 'DATABASE_URL', value);
      assert.equal(change.isRequoted, isRequoted, before);
    }
  });

  it('keeps the value and all other variables readable', () => {
    const uri = fc
      .string({ unit: 'grapheme-ascii' })
      .map((text) => `postgresql://app@host/app?options=${text}`);
    const line = fc.constantFrom(
      'A=1',
      '# note',
      '',
      'DATABASE_URL=old',
      'B="two words"',
      "export C='x'",
      'D="a"$A"b"',
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 6 }),
        fc.constantFrom('\n', '\r\n'),
        uri,
        (lines, eol, value) => {
          fc.pre(!value.includes("'"));
          const before = lines.join(eol);
          const after = set(before, value);
          assert.deepEqual({ ...parseEnv(after) }, { ...parseEnv(before), DATABASE_URL: value });
          assert.equal(set(after, value), after);
        },
      ),
    );
  });
});

describe('keepFormerValue', () => {
  const kept: readonly (readonly [what: string, before: string, after: string])[] = [
    [
      'a value with its comment',
      'A=1\nDATABASE_URL=old # mine\nB=2\n',
      'A=1\n# DATABASE_URL=old # mine\nDATABASE_URL=x # mine\nB=2\n',
    ],
    [
      'the last value of several',
      'DATABASE_URL=a\r\nexport DATABASE_URL="b"',
      'DATABASE_URL=a\r\n# export DATABASE_URL="b"\r\nexport DATABASE_URL="x"',
    ],
    ['a value of several lines', 'DATABASE_URL="a\nb"\n', '# DATABASE_URL="a\n# b"\nDATABASE_URL="x"\n'],
    ['the byte order mark', '\ufeffDATABASE_URL=a\n', '\ufeff# DATABASE_URL=a\nDATABASE_URL=x\n'],
    ['a file without the variable', 'A=1\n', 'A=1\nDATABASE_URL=x\n'],
  ];
  for (const [what, before, after] of kept)
    it(`keeps ${what}`, () => assert.equal(keepFormerValue(set(before, 'x'), before, 'DATABASE_URL'), after));

  it('changes no variable', () => {
    fc.assert(
      fc.property(fc.string(), fc.stringMatching(/^[\w"'#=\n ]*$/), (start, old) => {
        const before = `${start}\nDATABASE_URL=${old}\n`;
        const after = set(before, 'x');
        assert.deepEqual(parseEnv(keepFormerValue(after, before, 'DATABASE_URL')), parseEnv(after));
      }),
    );
  });
});

describe('getVariable', () => {
  const values: readonly (readonly [text: string, value: string | undefined])[] = [
    ['A=1\n', undefined],
    ['DATABASE_URL=a\nDATABASE_URL=b # c\n', 'b'],
    [`export DATABASE_URL="a'b\\$c" # d\r\nA=1`, "a'b$c"],
    [`DATABASE_URL='a"b'`, 'a"b'],
    ['DATABASE_URL=', ''],
    ['\ufeffDATABASE_URL=a\n', 'a'],
    ['# DATABASE_URL=a\n', undefined],
  ];
  for (const [text, value] of values)
    it(`reads ${JSON.stringify(text)}`, () => assert.equal(getVariable(text, 'DATABASE_URL'), value));

  it('returns what was set', () => {
    fc.assert(
      fc.property(fc.string(), fc.stringMatching(/^.*$/), (file, value) => {
        assert.equal(getVariable(set(`${file}\n`, value), 'DATABASE_URL'), value);
      }),
      {
        examples: [
          ['A="', '"'],
          ['', "it's"],
        ],
      },
    );
  });
});
