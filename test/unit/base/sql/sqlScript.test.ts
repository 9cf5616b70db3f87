import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findCreatedExtensions } from '../../../../src/base/sql/createdExtensions.ts';
import { readStatements } from '../../../../src/base/sql/readStatements.ts';
import { ScriptError } from '../../../../src/base/sql/sqlScript.ts';
import { statementAt } from '../../../../src/extension/database/rows/statements.ts';
import { assertLinear } from '../../../helpers/assertLinear.ts';
import { comparable, splitScript } from '../../../helpers/splitScript.ts';

/** Scripts, and what psql 18 sends for each: `node test/helpers/recordScripts.ts PSQL` writes the second from the first. */
const folder = path.join(import.meta.dirname, 'psqlScripts');

describe('The statements of a script', () => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.sql')))
    it(`are those of psql: ${path.basename(file, '.sql')}`, () => {
      const expected = JSON.parse(readFileSync(path.join(folder, file.replace('.sql', '.json')), 'utf8'));
      const script = readFileSync(path.join(folder, file), 'latin1');
      assert.deepEqual(comparable(splitScript(script)), comparable(expected));
    });

  it('come without the SQL that follows COPY in its line, which has to wait for the data', () =>
    assert.throws(() => splitScript('copy t from stdin; select 1;\n\\.\n'), ScriptError));

  it('are read without a server, by the settings and COPY that the script itself has', () => {
    const script =
      "set session standard_conforming_strings to 'off';\nselect 'a\\';';\ncopy t from stdin; select 1;\n;'\n\\.\n" +
      '\\copy t from stdin\n;"\n\\.\nselect 2;';
    assert.deepEqual(
      [...readStatements(script)].map(({ text }) => text),
      [
        "set session standard_conforming_strings to 'off';",
        "select 'a\\';';",
        'copy t from stdin;',
        '\\copy t from stdin',
        'select 2;',
      ],
    );
  });

  for (const part of [
    "select 'a''b', E'\\'', \"c\", $$;$$, 1e5 /* /* */ */; -- it's\n",
    "'a'\n",
    "E'a'\r'\\'' --\r",
    '$a$b',
    '/*',
    "'",
    '1_0',
    '\\echo `',
    '\\echo a \\\\',
    'create function begin case ',
    'copy t from stdin;\n\\.\n',
    ':',
    '(',
    '  --',
  ])
    it(`are found in a time in proportion to the text: ${JSON.stringify(part)}`, () =>
      assertLinear(part, 20_000, (text) => void [...readStatements(text)]));
});

describe('A line comment that ends with an apostrophe', () => {
  const text = "create table a (); -- is 'open'\ncreate extension citext; -- it's'\ncreate table b ();";

  it('hides no extension', () => assert.deepEqual(findCreatedExtensions(text), ['citext']));

  it('hides no statement at the cursor', () =>
    assert.equal(statementAt(text, text.length)?.text, 'create table b ()'));
});
