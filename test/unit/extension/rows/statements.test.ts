import assert from 'node:assert/strict';
import {
  NotOneQueryError,
  onlyStatement,
  shortName,
  statementAt,
  statementsOf,
  rowSourceOf,
  tableIn,
} from '../../../../src/extension/rows/statements.ts';

describe('The statements of a SQL file', () => {
  const texts = (sql: string) => statementsOf(sql).map(({ text }) => text);

  it('end with a semicolon that is in no quotation, comment or body', () => {
    assert.deepEqual(texts(''), []);
    assert.deepEqual(texts(' ;; -- ;\n'), []);
    assert.deepEqual(texts("select ';' ; select 2"), ["select ';' ", 'select 2']);
    assert.deepEqual(texts('select 1 /* ; */; select $a$;$a$, ";"'), [
      'select 1 /* ; */',
      'select $a$;$a$, ";"',
    ]);
    const routine = `create or replace function f() returns int begin atomic
      select case when true then 1 end; select 2; end`;
    assert.deepEqual(texts(`${routine}; select begin; select 1`), [routine, 'select begin', 'select 1']);
    assert.throws(() => texts("select 'a"), /no end/);
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

  it('has none in an empty file', () => assert.equal(statementAt('-- nothing', 3), undefined));

  it('must be one to be read', () => {
    assert.equal(onlyStatement('\nselect 1; -- done'), 'select 1');
    for (const sql of ['', ';', 'select 1; select 2', 'select \0'])
      assert.throws(() => onlyStatement(sql), NotOneQueryError);
  });
});

describe('What a model names to compare', () => {
  for (const [text, table, sql] of [
    ['orders', 'orders', 'SELECT * FROM orders'],
    [' "Or;der"."a b" ', '"Or;der"."a b"', 'SELECT * FROM "Or;der"."a b"'],
    ['select 1', undefined, 'select 1'],
    ['orders; drop table orders', undefined, 'orders; drop table orders'],
  ] as const)
    it(`is ${table ?? 'a query'} in ${text}`, () => {
      const source = rowSourceOf(text);
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
    it(`is ${table} in ${statement.slice(0, 40)}`, () => assert.equal(tableIn(statement), table));

  it('is short in titles', () => {
    assert.equal(shortName('public.users'), 'users');
    assert.equal(shortName('"public"."a ""b"""'), 'a "b"');
    assert.equal(shortName('shop."Odd"'), 'shop.Odd');
  });
});
