import assert from 'node:assert/strict';
import { createdExtensions } from '../../../../src/base/sql/createdExtensions.ts';
import { SqlScript } from '../../../../src/base/sql/sqlScript.ts';
import { statementAt } from '../../../../src/extension/rows/statements.ts';

describe('A line comment that ends with an apostrophe', () => {
  const text = "create table a (); -- is 'open'\ncreate extension citext; -- it's'\ncreate table b ();";

  it('hides no statement of a script', () => {
    const script = new SqlScript(text);
    const texts = Array.from({ length: 4 }, () => script.next()?.text);
    assert.deepEqual(texts, [
      'create table a ();',
      'create extension citext;',
      'create table b ();',
      undefined,
    ]);
  });

  it('hides no extension', () => assert.deepEqual(createdExtensions(text), ['citext']));

  it('hides no statement at the cursor', () =>
    assert.equal(statementAt(text, text.length)?.text, 'create table b ()'));
});
