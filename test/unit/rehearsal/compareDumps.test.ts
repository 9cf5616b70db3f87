import assert from 'node:assert/strict';
import { compareDumps } from '../../../src/rehearsal/wayBack.ts';

const dump = (...objects: readonly (readonly [name: string, text: string])[]): string =>
  objects
    .map(([name, text]) => `--\n-- Name: ${name}; Schema: public; Owner: me\n--\n\n${text}\n\n`)
    .join('');

const table = (name: string, ...columns: readonly string[]) =>
  [`${name}; Type: TABLE`, `CREATE TABLE public.${name} (\n    ${columns.join(',\n    ')}\n);`] as const;
const lines = (...all: readonly string[]) =>
  ['f; Type: FUNCTION', ['CREATE FUNCTION f', ...all].join('\n')] as const;

describe('compareDumps', () => {
  for (const [what, before, after, forgotten, left] of [
    [
      'finds a column that another table has got',
      dump(table('a', 'id integer', 'note text'), table('b', 'id integer')),
      dump(table('a', 'id integer'), table('b', 'id integer', 'note text')),
      ['note text'],
      ['note text'],
    ],
    [
      'takes columns in another order as equal',
      dump(table('a', 'id integer', 'note text', 'note2 text')),
      dump(table('a', 'note2 text', 'id integer', 'note text')),
      [],
      [],
    ],
    [
      'finds the lines of a function in another order',
      dump(lines('delete from a;', 'insert into a;')),
      dump(lines('insert into a;', 'delete from a;')),
      ['CREATE FUNCTION f'],
      [],
    ],
    ['counts lines that an object has several times', dump(lines('x;', 'x;')), dump(lines('x;')), ['x;'], []],
    [
      'finds an object that is gone',
      dump(table('a', 'id integer')),
      dump(),
      ['CREATE TABLE public.a (', 'id integer', ');'],
      [],
    ],
  ] as const)
    it(what, () => assert.deepEqual(compareDumps(before, after), { forgotten, left }));
});
