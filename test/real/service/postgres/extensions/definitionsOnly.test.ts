/**
 * Scripts of random parts, with calls of a trap between them, in comments and in quotes. What the check lets through is run by a
 * real Postgres, whose own parser says what each statement is.
 */
import assert from 'node:assert/strict';
import type Client from 'pg/lib/client.js';
import { rewriteIfOnlyDefinitions } from '../../../../../src/service/postgres/extensions/definitionsOnly.ts';
import { fieldsOf } from '../../../../../src/base/fieldsOf.ts';
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { randomNumbers } from '../../../../helpers/randomNumbers.ts';
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { connectTo } from '../clients.ts';
import { useBranch } from '../useBranch.ts';

const DEFINITIONS = [
  'create function f() returns int language sql as $$ select trap() $$',
  'create or replace function f() returns int language sql return 1',
  "create function g(a int default trap()) returns text language sql as 'select ''a;'''",
  'create type pair as (x int, y int)',
  'create view v as select trap()',
  'create aggregate largest(int) (sfunc = int4larger, stype = int)',
  'drop aggregate if exists largest(int)',
  'create operator +++ (function = int4pl, leftarg = int, rightarg = int)',
  "comment on schema public is 'select trap();'",
  "comment on schema public is E'it\\'s; select trap();'",
  "Comment On /* a */ schema public is $a$ ' ; select trap(); $a$",
  // Without standard strings, the second comment ends the first.
  "comment on schema public is '\\'; comment on schema public is '; select trap(); --'",
  'set client_min_messages to warning',
  "set local client_encoding = 'UTF8'",
  'alter function f() parallel safe',
];
const CALLS = [
  'select trap()',
  'do $$ begin perform trap(); end $$',
  'create table called as select trap()',
  'with a as (select trap()) select * from a',
  "comment on schema public is '\\'; select trap(); --'",
  'create function h() returns int begin atomic select begin from (select 1) as a (begin); select 1; end; select trap()',
  'create function h() returns int begin atomic select 1; end',
];
const COMMENTS = [
  "-- it's'\n",
  "--'\r",
  '-- ;\n',
  '-- $$\n',
  "/* ' */",
  '/* /* */ ; */',
  '/*',
  '*/',
  '--',
  "-- e'\n",
];
const QUOTES = [
  "'",
  '"',
  '$$',
  '$a$',
  "E'",
  "U&'",
  "\\'",
  '\\',
  '\\;',
  ':a',
  '(',
  ')',
  '\n\\echo a;\n',
  '\r\n',
  ' ',
];
const NOISE = [...COMMENTS, ...QUOTES];

describe('A script of only definitions', () => {
  const branch = useBranch();
  let client: Client;
  before(async () => {
    client = await connectTo(branch.uri);
    await client.query(
      "create function trap() returns int language plpgsql as $$ begin raise exception 'trap'; end $$",
    );
  });

  /** @returns the tags of the statements, if the script can be run; null for an empty one */
  const tagsOf = async (script: string, setting: string): Promise<string[]> => {
    await client.query('begin');
    try {
      await client.query(`set local standard_conforming_strings = ${setting}`);
      const results = [await client.query(script)].flat();
      return results.map(({ command }) => String(command));
    } catch (error) {
      assert.notEqual(fieldsOf(error)['message'], 'trap', script);
      return [];
    } finally {
      await client.query('rollback');
    }
  };

  it(`runs nothing, with all settings: seed ${RANDOM_SEED}`, async () => {
    const random = randomNumbers(RANDOM_SEED);
    const oneOf = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
    let [accepted, refused, run] = [0, 0, 0];
    for (let round = 0; round < roundsOf(3000, 60_000); round += 1) {
      const parts = Array.from({ length: 1 + Math.floor(random() * 6) }, () => {
        const statement = oneOf(random() < 0.2 ? CALLS : DEFINITIONS);
        const noise = random() < 0.4 ? oneOf(NOISE) : '';
        const isBefore = random() < 0.5;
        return `${isBefore ? noise : ''}${statement}${isBefore ? '' : noise};${random() < 0.2 ? oneOf(NOISE) : '\n'}`;
      });
      const checked = rewriteIfOnlyDefinitions(parts.join(''));
      if (checked === undefined) refused += 1;
      else accepted += 1;
      for (const setting of checked === undefined ? [] : ['on', 'off']) {
        const tags = await tagsOf(checked ?? '', setting);
        if (tags.length > 0) run += 1;
        for (const tag of tags) assert.match(tag, /^(?:CREATE|COMMENT|DROP|ALTER|SET|null)$/, checked);
      }
    }
    assert.ok(Math.min(accepted, refused, run) > 100, `${accepted} accepted, ${refused} refused, ${run} run`);
  });
});
