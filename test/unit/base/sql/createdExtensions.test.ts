import assert from 'node:assert/strict';
import { assertLinear } from '../../../helpers/assertLinear.ts';
import { findCreatedExtensions } from '../../../../src/base/sql/createdExtensions.ts';

describe('findCreatedExtensions', () => {
  it('finds what a script creates, in any spelling', () => {
    const text = `CREATE EXTENSION IF NOT EXISTS "uuid-ossp" WITH SCHEMA public;
create
  extension Vector cascade; Create Extension citext; create extension citext;
drop extension hstore; create extensions x; create table extension (a int)`;
    assert.deepEqual(findCreatedExtensions(text), ['uuid-ossp', 'vector', 'citext']);
  });

  it('leaves out comments, strings and the data of COPY', () => {
    const text = String.raw`-- create extension a;
/* create extension b; */ select 'create extension c;', $$create extension d;$$;
\connect app
\if :x
copy t from stdin;
it's; create extension e;
\N	\.
\.
create extension ltree;`;
    assert.deepEqual(findCreatedExtensions(text), ['ltree']);
  });

  it('ends with any text', () => {
    for (const text of [
      '',
      '\\',
      "'",
      '/*',
      '$$',
      'a \\ b',
      '\\\\\\',
      'copy t from stdin; more',
      'copy t from stdin;\n',
    ])
      assert.deepEqual(findCreatedExtensions(text), [], text);
  });

  for (const part of ['create extension ', "a'\n", 'copy t from stdin; a\n', '\\echo "a\n'])
    it(`takes a time in proportion to the text: ${JSON.stringify(part)}`, () =>
      assertLinear(part, 20_000, (text) => void findCreatedExtensions(text)));

  it('takes a time in proportion to the commands of psql in a line', () =>
    assertLinear('\\', 100_000, (text) => void findCreatedExtensions(text)));
});
