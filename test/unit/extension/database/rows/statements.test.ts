import assert from 'node:assert/strict';
import { assertLinear } from '../../../../helpers/assertLinear.ts';
import {
  NotOneQueryError,
  requireOnlyStatement,
  statementAt,
  parseRowSource,
  tableOfStatement,
  tableRowSource,
} from '../../../../../src/extension/database/rows/statements.ts';

describe('The statements of a SQL file', () => {
  /** Returns the statements at each character, without repetitions. */
  const texts = (sql: string) => [
    ...new Set(Array.from({ length: sql.length + 1 }, (_, offset) => statementAt(sql, offset)?.text)),
  ];

  it('end with a semicolon that is in no quotation, comment or body', () => {
    assert.deepEqual(texts(' ;; -- ;\n'), [undefined]);
    assert.deepEqual(texts("select ';' ; select 2"), ["select ';' ", 'select 2']);
    assert.deepEqual(texts('select 1 /* ; */; select $a$;$a$, ";"'), [
      'select 1 /* ; */',
      'select $a$;$a$, ";"',
    ]);
    const routine = `create or replace function f() returns int begin atomic
      select case when true then 1 end; select 2; end`;
    assert.deepEqual(texts(`${routine}; select begin; select 1`), [routine, 'select begin', 'select 1']);
  });

  it('are not the commands of psql between them', () => {
    assert.deepEqual(texts('\\set a 1\nselect 1;\n\\d item\nselect 2'), ['select 1', 'select 2']);
    assert.deepEqual(texts('select 1 \\gx\nselect 2 \\echo a\n;'), ['select 1 ', 'select 2 \n']);
    assert.throws(() => requireOnlyStatement('select 1 \\gx'), /is a command of psql/);
    assert.throws(() => requireOnlyStatement('select 1\\; select 2'), NotOneQueryError);
  });

  const file = 'select 1;\n\nselect 2;  -- two\nselect 3';
  const cases: readonly (readonly [offset: number, text: string | undefined])[] = [
    [0, 'select 1'],
    [9, 'select 1'],
    [10, 'select 1'],
    [11, 'select 2'],
    [22, 'select 2'],
    [file.length, 'select 3'],
  ];
  for (const [offset, text] of cases)
    it(`has ${text} at character ${offset}`, () => assert.equal(statementAt(file, offset)?.text, text));

  it('has none in an empty file', () => {
    for (const text of ['', '-- nothing']) assert.equal(statementAt(text, 0), undefined);
  });

  it('must be one to be read', () => {
    assert.equal(requireOnlyStatement('\nselect 1; -- done'), 'select 1');
    for (const sql of ['', ';', 'select 1; select 2', 'select \0'])
      assert.throws(() => requireOnlyStatement(sql), NotOneQueryError);
  });
});

describe('What a model names to compare', () => {
  for (const [text, table, sql] of [
    ['orders', '"orders"', 'SELECT * FROM "orders"'],
    ['Shop.USER', '"shop"."user"', 'SELECT * FROM "shop"."user"'],
    ['shop."User"', '"shop"."User"', 'SELECT * FROM "shop"."User"'],
    [' "Or;der"."a b" ', '"Or;der"."a b"', 'SELECT * FROM "Or;der"."a b"'],
    ['select 1', undefined, 'select 1'],
    ['orders; drop table orders', undefined, 'orders; drop table orders'],
  ] as const)
    it(`is ${table ?? 'a query'} in ${text}`, () => {
      const source = parseRowSource(text);
      assert.deepEqual([source.table, source.sql], [table, sql]);
    });
});

describe('The table of a statement of pg_dump', () => {
  const cases: Readonly<Record<string, string | undefined>> = {
    'CREATE TABLE public.users (\n id integer\n)': 'public.users',
    'CREATE VIEW public."Odd ""view"".;" AS SELECT 1': 'public."Odd ""view"".;"',
    'CREATE MATERIALIZED VIEW shop.sums AS': 'shop.sums',
    'ALTER TABLE ONLY public.users\n ADD CONSTRAINT users_pkey PRIMARY KEY (id)': 'public.users',
    'CREATE UNIQUE INDEX a ON public.users USING btree (id)': 'public.users',
    "COMMENT ON TABLE public.users IS 'x'": 'public.users',
    'CREATE TRIGGER t BEFORE INSERT ON shop."a b" FOR EACH ROW': 'shop."a b"',
    'CREATE FUNCTION public.f() RETURNS integer': undefined,
    "SET default_tablespace = ''": undefined,
  };
  for (const [statement, table] of Object.entries(cases))
    it(`is ${table} in ${statement.slice(0, 40)}`, () => assert.equal(tableOfStatement(statement), table));

  for (const part of ['INDEX ', 'TABLE ONLY ', '"', "TRIGGER 'a' ", 'ON a.', '(POLICY'])
    it(`is found in a time in proportion to the text: ${part}`, () =>
      assertLinear(
        part,
        20_000,
        (text) => void [tableOfStatement(text), parseRowSource(text), statementAt(text, 9)],
      ));

  it('is short in titles', () => {
    assert.equal(tableRowSource('public.users').name, 'users');
    assert.equal(tableRowSource('"public"."a ""b"""').name, 'a "b"');
    assert.equal(tableRowSource('shop."Odd"').name, 'shop.Odd');
  });
});
