import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { filesNotedAs } from '../../../src/migrations/filesNotedAs.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('The file of a migration', () => {
  for (const [note, name] of [
    ['20260101_init.js', 'db/migrations/20260101_init.js'],
    ['20260101_init.js', 'src/migrations/20260101_init.ts'],
    ['1767268800000_init', 'migrations/1767268800000_init.sql'],
    ['/20260101120000-init', 'migrations/20260101120000-init.js'],
    ['20260101120000_init', 'prisma/migrations/20260101120000_init/migration.sql'],
    ['000001.sql', 'migrations/committed/000001-add-a.sql'],
    ['1_init', 'migrations/0001-init.sql'],
    ['1', 'migrations/0001_init.sql'],
    ['1767268800000', 'src/patches/1767268800000-Init.ts'],
    ['Migration20260101120000', 'migrations/Migration20260101120000.ts'],
    ['add.v2', 'migrations/add.v2.sql'],
    [sha256('a'), 'sql/a.sql'],
  ] as const)
    it(`of the name ${note.slice(0, 30)} is ${name}`, () => {
      const names = ['migrations/9_other.sql', name, 'index.ts'];
      assert.deepEqual(filesNotedAs(note, names, new Map([[sha256('a'), ['sql/a.sql']]])), [name]);
      assert.deepEqual(filesNotedAs('8_more', names, new Map()), []);
      assert.deepEqual(filesNotedAs(sha256('b'), names, new Map()), []);
    });
});
