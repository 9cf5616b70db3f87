import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RehearsedStatement } from '../../../../../src/api/records/rehearsal.ts';
import type { AppliedMigrations } from '../../../../../src/extension/database/sql/appliedMigrations.ts';
import {
  loadMigrations,
  pendingFiles,
} from '../../../../../src/extension/database/rehearsals/savedMigration.ts';
import type { SqlFile } from '../../../../../src/migrations/sqlFiles.ts';
import { statementRanges } from '../../../../../src/rehearsal/statementRanges.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

const write = (files: Readonly<Record<string, string>>): string => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
};
const PRISMA = {
  'package.json': '{}',
  'prisma/migrations/migration_lock.toml': '',
  'prisma/migrations/1_a/migration.sql': 'select 1;',
  'prisma/migrations/2_b/migration.sql': 'select 2;',
};

describe('A saved migration', () => {
  it('is one of a folder of a tool, also of a folder in it', async () => {
    const folder = write(PRISMA);
    const file = path.join(folder, 'prisma/migrations/2_b/migration.sql');
    const found = await loadMigrations(file, false);
    assert.equal(found?.tool?.name, 'Prisma');
    assert.equal(found.files.length, 2);
  });

  it('is no other file, unless the user has rehearsed it', async () => {
    const folder = write({ ...PRISMA, 'notes/a.sql': 'select 1;', 'b.sql': 'select 1;' });
    for (const name of ['notes/a.sql', 'b.sql']) {
      const file = path.join(folder, name);
      assert.equal(await loadMigrations(file, false), undefined);
      assert.equal((await loadMigrations(file, true))?.files.length, 1);
    }
  });

  const file = (name: string, text = name): SqlFile => ({
    file: path.join('/db', name),
    text,
    transaction: 'file',
  });
  const files = [file('1_a.sql'), file('2_b.sql'), file('3_c.sql'), file('4_d.sql')];
  const noted = (...names: readonly string[]): AppliedMigrations[] => [
    {
      table: [],
      areNotedFirst: false,
      rows: names.map((name) => ({ name, transaction: 1, isApplied: true })),
    },
  ];
  const pending = (name: string, tables: readonly AppliedMigrations[]) =>
    pendingFiles(files, path.join('/db', name), tables)?.map((each) => path.basename(each.file));

  it('runs after those before it that are not applied', () => {
    assert.deepEqual(pending('3_c.sql', noted('1')), ['2_b.sql', '3_c.sql']);
    assert.deepEqual(pending('3_c.sql', noted('1_a', '2_b')), ['3_c.sql']);
    const hash = createHash('sha256').update('2_b.sql').digest('hex');
    assert.deepEqual(pending('3_c.sql', noted(hash)), ['1_a.sql', '3_c.sql']);
  });

  it('runs alone if nothing is known about its folder, and not if it is applied', () => {
    assert.deepEqual(pending('3_c.sql', []), ['3_c.sql']);
    assert.deepEqual(pending('3_c.sql', noted('of_another_folder')), ['3_c.sql']);
    assert.equal(pending('3_c.sql', noted('3_c.sql')), undefined);
  });

  it('has each statement where it is in the file, also if another one has the same text', () => {
    const text = Buffer.from('-- Ä\nbegin;\nselect 1;\n\nselect\n  1; select 1;\n').toString('latin1');
    const seen = (sql: string): RehearsedStatement => ({
      session: 1,
      transaction: 1,
      text: sql,
      from: 0,
      milliseconds: 1,
      tags: [],
    });
    const statements = ['begin', 'begin;', 'select 1;', 'select\n  1;', 'select 1;', 'commit'].map(seen);
    const ranges = statementRanges(file('1.sql', text), statements);
    assert.deepEqual(
      statements.map((each) => ranges.get(each)?.map(({ line, character }) => `${line}:${character}`)),
      [undefined, ['1:0', '1:6'], ['2:0', '2:9'], ['4:0', '5:4'], ['5:5', '5:14'], undefined],
    );
  });
});
