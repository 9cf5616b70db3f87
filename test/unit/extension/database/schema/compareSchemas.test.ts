import assert from 'node:assert/strict';
import { compareSchemas, schemaDiff } from '../../../../../src/extension/database/schema/compareSchemas.ts';
import {
  splitObjects,
  splitOwners,
  withoutSessionSettings,
} from '../../../../../src/base/sql/dumpObjects.ts';
import { assertLinear } from '../../../../helpers/assertLinear.ts';

const HEAD =
  '--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 18.4\n\nSET statement_timeout = 0;\n\n';
const END = '--\n-- PostgreSQL database dump complete\n--\n\n';
const dump = (...objects: readonly string[]) => [HEAD, ...objects, END].join('');
const object = (name: string, sql: string, owner = 'app_owner') =>
  `--\n-- Name: ${name}; Owner: ${owner}\n--\n\n${sql}\n\n\n`;

const users = object('users; Type: TABLE; Schema: public', 'CREATE TABLE public.users (\n    id integer\n);');
const index = object('users_id; Type: INDEX; Schema: public', 'CREATE INDEX users_id ON public.users (id);');
const named = object(
  'users; Type: TABLE; Schema: public',
  'CREATE TABLE public.users (\n    name text\n);',
  'b',
);

describe('compareSchemas', () => {
  for (const [title, before, after, expected] of [
    ['finds nothing in equal schemas', dump(users), dump(users), [0, 0, 0]],
    [
      'ignores what comes before the first object',
      dump(users),
      dump(users).replace('18.4', '18.5'),
      [0, 0, 0],
    ],
    ['counts added objects', dump(), dump(users, index), [2, 0, 0]],
    ['counts removed objects', dump(users, index), dump(users), [0, 1, 0]],
    ['counts changed objects, also those with another owner', dump(users), dump(named), [0, 0, 1]],
    ['counts all of an object without a schema as removed', dump(users, index), '', [0, 2, 0]],
    ['takes objects in another order as equal', dump(users, index), dump(index, users), [0, 0, 0]],
  ] as const)
    it(title, () => {
      const { added, removed, changed } = compareSchemas(before, after);
      assert.deepEqual([added, removed, changed], expected);
    });
});

describe('An object whose text looks like the end of the dump or the next object', () => {
  const hidden = `\n${END}\n${users.replace('users', 'other')}`;
  const quotes: readonly (readonly [where: string, quoted: string])[] = [
    ['the body of a function', `AS $_$${hidden} it's "odd" $$ $_$`],
    ['a comment', `COMMENT ON TABLE a IS '${hidden} it''s "odd" $$''';`],
    ['a view', `SELECT E'\\\\'::text AS a, '${hidden}'::text`],
    ['a name', `CREATE TABLE "${hidden} it's ""odd"" $_$""" (a integer);`],
  ];
  for (const [where, quoted] of quotes)
    it(`hides no difference: ${where}`, () => {
      const first = object('f; Type: FUNCTION', quoted);
      const { added, removed, changed } = compareSchemas(dump(first, users), dump(first, named, index));
      assert.deepEqual([added, removed, changed], [1, 0, 1]);
      assert.equal(splitObjects(dump(first, users)).get('f; Type: FUNCTION'), quoted);
    });

  it('takes a comment inside a line for none', () => {
    const sql = `SELECT 1 --\n-- Name: other; Type: TABLE\n--\n; -- it's`;
    assert.deepEqual(
      [...splitObjects(dump(object('v; Type: VIEW', sql), users)).keys()],
      ['v; Type: VIEW', 'users; Type: TABLE; Schema: public'],
    );
  });

  it('may have a name like an owner', () => {
    const one = object('a; Owner: x; Type: TABLE', 'A');
    assert.deepEqual([...splitObjects(one).keys()], ['a; Owner: x; Type: TABLE']);
  });
});

describe('withoutSessionSettings', () => {
  for (const [statement, isKept] of [
    ['SET statement_timeout = 0;', false],
    ["SET client_encoding = 'UTF8';", false],
    ["SELECT pg_catalog.set_config('search_path', '', false);", false],
    ["SET default_tablespace = '';", false],
    ['SET default_table_access_method = heap;', false],
    ['SET default_tablespace = fast;', true],
    ['SET default_table_access_method = columnar;', true],
    ["SELECT pg_catalog.setval('public.a', 1, false);", true],
    ['    SET search_path TO public', true],
    ['CREATE FUNCTION f() AS $$\nSET role = a;\n$$;', true],
    ["COMMENT ON TABLE a IS '\nSET role = a;\n';", true],
    ['CREATE TABLE "a\nSET role = a;\n" ();', true],
  ] as const)
    it(`${isKept ? 'keeps' : 'removes'} ${JSON.stringify(statement)}`, () => {
      const text = (part: string) => dump(object('a', `A;\n\n${part}B;`));
      const expected = text(isKept ? `${statement}\n\n` : '').replace('SET statement_timeout = 0;\n\n', '');
      assert.equal(withoutSessionSettings(text(`${statement}\n\n`)), expected);
    });

  it('keeps the default of a setting that has another value in another place', () => {
    const text = "SET default_tablespace = fast;\n\nA;\n\nSET default_tablespace = '';\n\nB;\n";
    assert.equal(withoutSessionSettings(text), text);
  });

  it('takes time in proportion to the text', () => {
    for (const part of ['SET a = 1;\n', 'ALTER A OWNER TO ', "'"])
      assertLinear(part, 100_000, (text) => splitOwners(withoutSessionSettings(text)));
  });
});

describe('splitOwners', () => {
  for (const [statement, isOwner] of [
    ['ALTER TABLE public.users OWNER TO app_owner;', true],
    ['ALTER FUNCTION public.f(a integer, "b;" text) OWNER TO "a ""b""";', true],
    ['ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);', false],
    ['ALTER TABLE public."a OWNER TO b;\nc" OWNER TO d;', false],
    ['CREATE FUNCTION f() AS $_$\nALTER TABLE a OWNER TO b;\n$_$;', false],
  ] as const)
    it(`${isOwner ? 'separates' : 'keeps'} ${JSON.stringify(statement)}`, () => {
      const expected = isOwner
        ? { text: 'A;\n\n\nB;\n', owners: statement }
        : { text: `A;\n\n\n${statement}\n\nB;\n`, owners: '' };
      assert.deepEqual(splitOwners(`A;\n\n\n${statement}\n\nB;\n`), expected);
    });
});

describe('schemaDiff', () => {
  const owned = (sql: string, owner: string) =>
    dump(object('a; Type: TABLE', `${sql}\n\n\nALTER TABLE public.a OWNER TO ${owner};`, owner));
  const head = '-- a; Type: TABLE\n';
  for (const [title, before, after, expected] of [
    [
      'of the owner only',
      owned('A;', 'x'),
      owned('A;', 'y'),
      ' A;\n \n \n-ALTER TABLE public.a OWNER TO x;\n+ALTER TABLE public.a OWNER TO y;',
    ],
    ['without the owner if both have the same', owned('A;', 'x'), owned('B;', 'x'), '-A;\n+B;'],
    ['without the owner of what was added', dump(), owned('A;', 'x'), '+A;'],
    ['without settings', owned("A;\n\nSET default_tablespace = '';", 'x'), owned('B;', 'x'), '-A;\n+B;'],
  ] as const)
    it(`shows a change ${title}`, () => {
      assert.equal(schemaDiff(before, after), head + expected);
      assert.deepEqual(
        Object.values(compareSchemas(before, after)).filter((count) => count > 0),
        [1],
      );
    });

  it('takes time in proportion to the text', () => {
    const ofLine = (text: string) => dump(object('f; Type: FUNCTION', `--\n-- Name: ${text}\n`));
    assertLinear('; Owner: ', 200_000, (text) => schemaDiff(ofLine(text), ofLine(`${text} `)));
    const ofLines = (text: string) => dump(object('f; Type: FUNCTION', text));
    assertLinear('a\n', 2000, (text) => schemaDiff(ofLines(text), ofLines(text.replaceAll('a', 'b'))));
    assertLinear("'", 200_000, (text) => schemaDiff(ofLines(`'${text}`), ofLines(`'${text}'`)));
  });

  it('shows the first to the last change of an object with very many', () => {
    const body = (letter: string) => Array.from({ length: 5000 }, (_, line) => `${letter} ${line}`);
    const lines = (letter: string) =>
      dump(object('f; Type: FUNCTION', ['BEGIN', ...body(letter), 'END'].join('\n')));
    const [old, current] = [body('a').map((line) => `-${line}`), body('b').map((line) => `+${line}`)];
    assert.equal(
      schemaDiff(lines('a'), lines('b')),
      ['-- f; Type: FUNCTION', ' BEGIN', ...old, ...current, ' END'].join('\n'),
    );
  });

  it('is empty for equal schemas', () => {
    assert.equal(schemaDiff(dump(users, index), dump(index, users)), '');
  });

  it('keeps the order of lines, also of those that occur twice', () => {
    const body = (...lines: string[]) => dump(object('f; Type: FUNCTION', ['BEGIN', ...lines].join('\n')));
    const [nested, end] = ['IF a THEN', 'END IF;'];
    assert.equal(
      schemaDiff(body(nested, end), body(nested, nested, end, end)),
      ['-- f; Type: FUNCTION', ' BEGIN', ' IF a THEN', '+IF a THEN', ' END IF;', '+END IF;'].join('\n'),
    );
  });

  it('shows the lines of each object that was added, removed or changed', () => {
    assert.equal(
      schemaDiff(dump(users, index), dump(named)),
      [
        '-- users; Type: TABLE; Schema: public',
        ' CREATE TABLE public.users (',
        '-    id integer',
        '+    name text',
        ' );',
        '',
        '-- users_id; Type: INDEX; Schema: public',
        '-CREATE INDEX users_id ON public.users (id);',
      ].join('\n'),
    );
    assert.equal(
      schemaDiff('', dump(index)),
      '-- users_id; Type: INDEX; Schema: public\n+CREATE INDEX users_id ON public.users (id);',
    );
  });
});
