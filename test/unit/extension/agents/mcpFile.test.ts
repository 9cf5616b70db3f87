import assert from 'node:assert/strict';
import { addMcpServer } from '../../../../src/extension/agents/mcpFile.ts';

const server = { command: '/a "b"/mcp', args: [] };
const add = (text: string) => addMcpServer(text, 'mine', server);
const lines = (...each: string[]) => `${each.join('\n')}\n`;
const mine = (indent: string, unit = '  ') =>
  [
    `${indent}"mine": {`,
    `${indent}${unit}"command": "/a \\"b\\"/mcp",`,
    `${indent}${unit}"args": []`,
    `${indent}}`,
  ].join('\n');

describe('addMcpServer', () => {
  const added = lines('{', '  "mcpServers": {', mine('    '), '  }', '}');
  for (const [title, before, after] of [
    ['a new file', '', added],
    ['an empty file', ' \n', added],
    ['a file without servers', '{\n}\n', added],
    ['a file with no server yet', lines('{', '  "mcpServers": {', '  }', '}'), added],
    ['a file that has it already', added, added],
    [
      'a file with another server, comments and a last comma',
      lines(
        '// a "comment, {',
        '{',
        '  "mcpServers": {',
        '    "other": { "args": ["}", {}] }, // last {',
        '    /* "mine": 1 */',
        '  },',
        '  "more": [1, 2]',
        '}',
      ),
      lines(
        '// a "comment, {',
        '{',
        '  "mcpServers": {',
        `${mine('    ')},`,
        '    "other": { "args": ["}", {}] }, // last {',
        '    /* "mine": 1 */',
        '  },',
        '  "more": [1, 2]',
        '}',
      ),
    ],
    [
      'a file with a comment behind the last server',
      lines('{', '\t"mcpServers": {', '\t\t"other": {} // it', '\t}', '}'),
      lines('{', '\t"mcpServers": {', `${mine('\t\t', '\t')},`, '\t\t"other": {} // it', '\t}', '}'),
    ],
    [
      'an older configuration of it, in which names are nested',
      lines('{', '  "a": { "mcpServers": 1 },', '  "mcpServers": { "mine": { "mine": {} }, "b": 2 }', '}'),
      lines(
        '{',
        '  "a": { "mcpServers": 1 },',
        `  "mcpServers": { ${mine('    ').trimStart()}, "b": 2 }`,
        '}',
      ),
    ],
  ] as const)
    it(`changes only its own server: ${title}`, () => {
      assert.equal(add(before), after);
      assert.equal(add(after), after);
    });

  it('keeps line ends and a text of one line', () => {
    const text = add('{"mcpServers":{"a":{}}}\r\n');
    assert.doesNotMatch(text, /[^\r]\n/);
    assert.deepEqual(JSON.parse(text), { mcpServers: { a: {}, mine: server } });
  });

  for (const text of ['{', '[]', '{"mcpServers": []}', '{"mcpServers": null}', '{"a": 1,, }', 'null', '"'])
    it(`throws for ${text}`, () => {
      assert.throws(() => add(text), SyntaxError);
    });
});
