import assert from 'node:assert/strict';
import { compareSchemas, schemaDiff } from '../../../../src/extension/schema/compareSchemas.ts';
import { objectsOf } from '../../../../src/extension/schema/dumpObjects.ts';
import { assertLinear } from '../../../helpers/assertLinear.ts';

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
      assert.equal(objectsOf(dump(first, users)).get('f; Type: FUNCTION'), quoted);
    });

  it('takes a comment inside a line for none', () => {
    const sql = `SELECT 1 --\n-- Name: other; Type: TABLE\n--\n; -- it's`;
    assert.deepEqual(
      [...objectsOf(dump(object('v; Type: VIEW', sql), users)).keys()],
      ['v; Type: VIEW', 'users; Type: TABLE; Schema: public'],
    );
  });

  it('may have a name like an owner', () => {
    const one = object('a; Owner: x; Type: TABLE', 'A');
    assert.deepEqual([...objectsOf(one).keys()], ['a; Owner: x; Type: TABLE']);
  });
});

describe('schemaDiff', () => {
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
