/** Rehearsals of folders that are for no tool, whose files this program runs. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../helpers/localService.ts';
import { runStatements } from '../service/postgres/clients.ts';
import { superuserUri } from '../service/postgres/controlPlane.ts';
import { startRehearsals, verdictSentences, withoutDurations, type Rehearsals } from './rehearsals.ts';

describe('A rehearsed folder', () => {
  let rehearsals: Rehearsals;

  before(async () => {
    rehearsals = await startRehearsals();
    const superuser = superuserUri(rehearsals.service, rehearsals.url);
    await runStatements(superuser, 'create table public.strangers (id integer)');
  });

  const rehearse = async (...texts: readonly string[]) => {
    const folder = temporaryFolder();
    texts.forEach((text, index) => writeFileSync(path.join(folder, `${index + 1}.sql`), text));
    return rehearsals.rehearseFolder(folder);
  };

  it('says what was skipped because it is for superusers, and is safe otherwise', async () => {
    const report = await rehearse(
      "select 'a';\ncreate publication everything for all tables;\nselect 'b';",
      'drop publication everything;',
    );
    const sentences = verdictSentences(report);
    assert.match(sentences[0] ?? '', /^Safe: /);
    assert.deepEqual(sentences.slice(1), [
      'Skipped “create publication everything for all tables;”, because only a superuser may run it here: must be superuser to create FOR ALL TABLES publication (1.sql:2)',
      'Skipped “drop publication everything;”, because only a superuser may run it here: publication "everything" does not exist (2.sql:1)',
    ]);
  });

  it('names the file that empties a column, and each that may have removed rows', async () => {
    await runStatements(
      rehearsals.url,
      'create table users (id integer, name text)',
      "insert into users values (1, 'a'), (2, 'b')",
      'create table old (id integer, name text)',
    );
    const emptied = await rehearse(
      'update users set name = null;',
      'alter table users add column display_name text;',
    );
    assert.deepEqual(withoutDurations(emptied), ['Loses 2 values of public.users.name. (1.sql:1)']);
    assert.deepEqual(
      emptied.files.map(({ verdict }) => verdict),
      ['dangerous', 'safe'],
    );
    const moved = await rehearse(
      'with gone as (delete from users where id = 1 returning *) insert into old select * from gone;',
      'delete from users where id = 2;',
    );
    assert.deepEqual(withoutDurations(moved), [
      'Loses 2 rows of public.users. (one or more of 1.sql:1, 2.sql:1)',
    ]);
    assert.deepEqual(
      moved.files.map(({ verdict }) => verdict),
      ['unclear', 'unclear'],
    );
  });

  it('calls no file safe that drops what an earlier one has renamed', async () => {
    await runStatements(
      rehearsals.url,
      'create table contacts (id integer, nick text)',
      "insert into contacts values (1, 'a'), (2, 'b')",
    );
    const column = await rehearse(
      'alter table contacts rename column nick to alias;',
      'alter table contacts drop column alias;',
    );
    assert.deepEqual(withoutDurations(column), [
      'Loses 2 values of public.contacts.nick. (one or more of 1.sql:1, 2.sql:1)',
    ]);
    assert.deepEqual(
      column.files.map(({ verdict }) => verdict),
      ['unclear', 'unclear'],
    );
    const table = await rehearse('alter table contacts rename to friends;', 'drop table friends;');
    assert.deepEqual(withoutDurations(table), ['Loses 2 rows of public.contacts. (2.sql:1)']);
    assert.deepEqual(
      table.files.map(({ verdict }) => verdict),
      ['safe', 'dangerous'],
    );
  });

  it('fails where a role does not own the table of a publication', async () => {
    const report = await rehearse("select 'a';", 'create publication shown for table strangers;');
    assert.deepEqual(withoutDurations(report), [
      'Fails at “create publication shown for table strangers;”: must be owner of table strangers (2.sql:1)',
    ]);
  });
});
