import assert from 'node:assert/strict';
import { withoutLiteralValues } from '../../../../../../src/extension/agents/tools/sql/sqlTool.ts';

describe('withoutLiteralValues', () => {
  for (const [sql, text] of [
    ['update item set price = 1', 'update item set price = 1'],
    ["alter role a password 'word' valid until 'x'", 'alter role a password …'],
    ['alter role a password $$word$$', 'alter role a password …'],
    ['alter role a password $é$word$é$', 'alter role a password …'],
    ["alter role a password U&'word'", 'alter role a password U&…'],
  ] as const)
    it(`shows ${sql} as ${text}`, () => assert.equal(withoutLiteralValues(sql), text));
});
