/** What is read in the files of migrations, which anyone can write. */
import { MIGRATION_TOOLS } from '../../../src/migrations/migrationTools.ts';
import { findUndoPart } from '../../../src/migrations/undoPart.ts';
import { PartError } from '../../../src/migrations/upPart.ts';
import { assertLinear } from '../../helpers/assertLinear.ts';

const UNITS = [
  '\n',
  ' ',
  '--',
  '--\n',
  '-- migrate:up ',
  '-- +goose up',
  '--! a\n',
  ':A_',
  '-- a\n;',
  '-- rollback a b c\n;',
  'create table a ();drop table a;',
  'drop table a, a;alter table a add b int, drop b;',
  'drop table a,',
  'a.',
  'a,',
  'alter table a.',
];

/** Reads a text in all ways in which any tool's row can read it. */
function readAsAll(text: string): void {
  findUndoPart(text);
  findUndoPart(`drop table ${text}`);
  findUndoPart(`alter table a ${text}`);
  for (const { mark, rules } of MIGRATION_TOOLS) {
    mark?.test(text);
    rules?.without?.mark.test(text);
    rules?.refused?.mark.test(text);
    try {
      rules?.upPart?.(text);
    } catch (error) {
      if (!(error instanceof PartError)) throw error;
    }
  }
}

describe('The table of migration tools', () => {
  for (const unit of UNITS)
    it(`reads files in time in proportion to their text of ${JSON.stringify(unit)}`, () =>
      assertLinear(unit, 20_000, readAsAll));
});
