/** Which files of a folder run, in the order and by the rules of the tool that the folder is for. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadSqlFiles } from '../../../src/migrations/sqlFiles.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { writeFiles } from '../../helpers/writeFiles.ts';

type Files = Readonly<Record<string, string>>;

/** @param project the files next to the folder */
function write(
  files: Files,
  folder = path.join(temporaryFolder(), 'migrations'),
  project: Files = {},
): string {
  writeFiles(project, path.dirname(folder));
  return writeFiles(files, folder);
}

describe('A folder of SQL', () => {
  const sql = (...names: readonly string[]): Files =>
    Object.fromEntries(names.map((name) => [name, `-- ${name}`]));
  const journal = JSON.stringify({ entries: [{ tag: '0001_b' }, { tag: '0000_a' }] });
  const undone = (line: string): Files => ({
    '1_a.sql': `create table a (id int);\n${line}\ndrop table a;\n`,
  });
  const FOLDERS: Readonly<Record<string, readonly [files: Files, order: readonly string[]]>> = {
    numbers: [
      sql('10_c.sql', '2_b.sql', '01_a.sql', 'embed.go', '.#2_b.sql'),
      ['01_a.sql', '2_b.sql', '10_c.sql'],
    ],
    'numbered folders': [sql('v10/1.sql', 'v2/10.sql', 'v2/9.sql'), ['v2/9.sql', 'v2/10.sql', 'v10/1.sql']],
    'golang-migrate and sqlx': [
      sql('1.down.sql', '1.up.sql', '10_b.up.sql', '2_a.up.sql'),
      ['1.up.sql', '2_a.up.sql', '10_b.up.sql'],
    ],
    'db-migrate': [sql('1-a-down.sql', '1-a-up.sql'), ['1-a-up.sql']],
    diesel: [sql('2_b/down.sql', '2_b/up.sql', '1_a/up.sql', '1_a/down.sql'), ['1_a/up.sql', '2_b/up.sql']],
    Postgrator: [sql('1.do.a.sql', '1.undo.not-a.sql', '2.do.sql'), ['1.do.a.sql', '2.do.sql']],
    'up and down': [sql('up/1.sql', 'down/1.sql'), ['up/1.sql']],
    'only up': [sql('1_a.sql', '2_scale_up.sql'), ['1_a.sql', '2_scale_up.sql']],
    Flyway: [
      sql('R__view.sql', 'V10__c.sql', 'V2_1__b.sql', 'V2__a.sql', 'U2__a.sql'),
      ['V2__a.sql', 'V2_1__b.sql', 'V10__c.sql', 'R__view.sql'],
    ],
    Prisma: [
      sql('2_b/migration.sql', '10_a/migration.sql', 'migration_lock.toml'),
      ['10_a/migration.sql', '2_b/migration.sql'],
    ],
    Drizzle: [
      { ...sql('0000_a.sql', '0001_b.sql'), 'meta/_journal.json': journal },
      ['0001_b.sql', '0000_a.sql'],
    ],
    Atlas: [sql('2_b.sql', '10_a.sql', 'atlas.sum'), ['10_a.sql', '2_b.sql']],
    dbmate: [{ '2_b.sql': '-- migrate:up', '10_a.sql': '-- migrate:up' }, ['10_a.sql', '2_b.sql']],
  };
  for (const [name, [files, order]] of Object.entries(FOLDERS))
    it(`has the order of ${name}`, async () => {
      const folder = write(files);
      const found = (await loadSqlFiles(folder)).files.map(({ file }) =>
        path.relative(folder, file).replaceAll(path.sep, '/'),
      );
      assert.deepEqual(found, order);
    });

  it('has the order of Supabase, and links to files', async function () {
    if (process.platform === 'win32') return this.skip(); // Only administrators create links.
    const parent = path.join(temporaryFolder(), 'supabase');
    write(sql('config.toml'), parent);
    const folder = write(sql('2_a.sql', '10_b.sql'), path.join(parent, 'migrations'));
    symlinkSync(path.join(folder, '2_a.sql'), path.join(folder, '3_c.sql'));
    const found = (await loadSqlFiles(folder)).files.map(({ file }) => path.basename(file));
    assert.deepEqual(found, ['10_b.sql', '2_a.sql', '3_c.sql']);
  });

  const REFUSED: Readonly<Record<string, readonly [Files, RegExp]>> = {
    'no SQL': [
      sql('readme.md'),
      /migrations has no \.sql files.*\{ run: 'npm run migrate', files: \['migrations'\] \}/,
    ],
    JavaScript: [sql('20260101_a.js', '20260102_b.sql'), /20260101_a\.js.*'npm run migrate'/],
    Rails: [sql('20260101_a.rb'), /20260101_a\.rb.*bin\/rails db:migrate/],
    'goose in Go': [sql('1_a.sql', '2_b.go'), /2_b\.go.*goose/],
    Sqitch: [sql('sqitch.plan', 'deploy/a.sql', 'revert/a.sql'), /Sqitch.*sqitch deploy "db:\$DATABASE_URL"/],
    'Supabase above its folder': [
      sql('supabase/seed.sql', 'supabase/migrations/1.sql'),
      /several folders.*supabase, supabase\/migrations/,
    ],
    'folders by topic': [
      sql('tables/1.sql', 'data/1.sql'),
      /several folders, whose order isn't known: data, tables/,
    ],
    'a pair that is incomplete': [sql('1.up.sql', '2.down.sql'), /2\.down\.sql, which isn't one of a pair/],
    'a file without direction': [sql('1.up.sql', '1.down.sql', '2.sql'), /2\.sql, which isn't one of a pair/],
    'a Flyway baseline': [sql('B1__a.sql', 'V2__b.sql'), /B1__a\.sql.*flyway migrate/],
    'no Flyway version': [sql('V1__a.sql', 'b.sql'), /b\.sql.*flyway migrate/],
    'Flyway placeholders': [{ 'V1__a.sql': "select '${schema}'" }, /placeholders.*flyway migrate/],
    Liquibase: [{ '1.sql': '--liquibase formatted sql' }, /Liquibase.*liquibase update/],
    'an Atlas checkpoint': [{ '1.sql': '-- atlas:checkpoint' }, /Atlas.*atlas migrate apply/],
    'goose with the environment': [{ '1.sql': '-- +goose ENVSUB ON' }, /goose/],
    'SQL before its part': [
      { '1.sql': 'select 1;\n-- migrate:up\n' },
      /SQL before the line that begins its migration/,
    ],
    'a journal without its file': [{ ...sql('0000_a.sql'), 'meta/_journal.json': journal }, /0001_b\.sql/],
    "an undo without its version, which is refinery's": [
      sql('V1__a.sql', 'U2__b.sql'),
      /U2__b\.sql, which undoes no other file.*flyway migrate/,
    ],
    MyBatis: [undone('-- //@UNDO'), /is for MyBatis Migrations.*run: 'migrate up'/],
    shmig: [undone('-- ==== DOWN ===='), /is for shmig.*run: 'shmig/],
    pogo: [undone('-- migrate: rollback'), /is for pogo.*run: 'pogo/],
    'a line that only says undo': [
      undone('--- Rollback:'),
      /has the line "--- Rollback:".*'npm run migrate'/,
    ],
    'a comment in another form that only says undo': [undone('/* DOWN */'), /has the line "\/\* DOWN \*\/"/],
    'a down part of an unknown tool': [undone('-- Down Migration'), /has the line "-- Down Migration"/],
    'a down part of dbmate without its up part': [
      undone('-- migrate:down'),
      /SQL before the line that begins/,
    ],
    'lines of two tools': [
      { '1.sql': '-- migrate:up\n', '2.sql': '-- +goose Up\n' },
      /has lines for dbmate and for goose/,
    ],
    "a name that isn't one of the tool's": [
      { ...sql('1_a.sql', 'b.sql'), '2_c.sql': '-- migrate:up\n' },
      /has b\.sql, whose name isn't one of the tool's.*npx dbmate up/,
    ],
    'a template of Tern': [
      { '1_a.sql': 'create schema {{.schema}};\n---- create above / drop below ----\n' },
      /is a template of Tern.*tern migrate/,
    ],
    'placeholders of graphile-migrate': [
      {
        '000001.sql': '--! Previous: -\n--! Hash: sha1:0\n\ngrant usage on schema a to :DATABASE_VISITOR;\n',
      },
      /placeholders of graphile-migrate.*graphile-migrate migrate/,
    ],
  };
  for (const [name, [files, message]] of Object.entries(REFUSED))
    it(`refuses ${name}, with what to do`, () => assert.rejects(loadSqlFiles(write(files)), message));

  const uses = (...packages: readonly string[]): Files => ({
    'package.json': JSON.stringify({
      devDependencies: Object.fromEntries(packages.map((each) => [each, '1'])),
    }),
  });

  it('is for the tool that package.json shows', async () => {
    const cases: Readonly<Record<string, readonly [transaction: string, name: string]>> = {
      'node-pg-migrate': ['all', '1700000000000_a.sql'],
      'postgres-migrations': ['file', '1_a.sql'],
      '@databases/pg-migrations': ['file', '1-a.sql'],
      marv: ['query', '1.a.sql'],
      knex: ['unknown', '1_a.sql'],
    };
    for (const [tool, [transaction, name]] of Object.entries(cases)) {
      const { files } = await loadSqlFiles(write(sql(name), undefined, uses(tool, 'pg')));
      assert.deepEqual(
        files.map((file) => file.transaction),
        [transaction],
        tool,
      );
    }
    const two = write(sql('1_a.sql'), undefined, uses('node-pg-migrate', 'marv'));
    await assert.rejects(
      loadSqlFiles(two),
      /can be for node-pg-migrate or Marv\..* \{ run: 'npx node-pg-migrate up', .*\} or \{ run: 'node migrate\.js'/,
    );
    // Others don't run with Marv.
    const more = write(sql('1_a.sql', 'b.sql'), undefined, uses('marv'));
    await assert.rejects(
      loadSqlFiles(more),
      /has b\.sql, whose name isn't one of the tool's.*node migrate\.js/,
    );
    // node-pg-migrate sorts them by the rules of a language.
    const same = write(sql('1_b.sql', '01_C.sql'), undefined, uses('node-pg-migrate'));
    await assert.rejects(
      loadSqlFiles(same),
      /01_C\.sql and 1_b\.sql, which have the same number.*node-pg-migrate up/,
    );
    const pairs = write(sql('1_a.up.sql', '1_a.down.sql'), undefined, uses('node-pg-migrate'));
    await assert.rejects(loadSqlFiles(pairs), /node-pg-migrate runs them as well.*npx node-pg-migrate up/);
    const others = write(sql('tables/1.sql', 'data/1.sql'), undefined, uses('typeorm'));
    await assert.rejects(loadSqlFiles(others), /several folders.*npx typeorm migration:run/);
    const programs = write(sql('20260101_a.ts'), undefined, uses('@mikro-orm/cli'));
    await assert.rejects(loadSqlFiles(programs), /aren't SQL.*npx mikro-orm migration:up/);
  });

  it('is not for a tool of a repository around that of the folder', async () => {
    const outer = temporaryFolder();
    const folder = path.join(outer, 'inner/db/migrations');
    write(sql('1_a.sql'), folder, { 'package.json': '{"name":"db"}' });
    writeFileSync(path.join(outer, 'package.json'), uses('marv')['package.json'] ?? '');
    const transactions = async () => (await loadSqlFiles(folder)).files.map(({ transaction }) => transaction);
    assert.deepEqual(await transactions(), ['query']);
    mkdirSync(path.join(outer, 'inner/.git'));
    assert.deepEqual(await transactions(), ['unknown']);
  });

  it("has node-pg-migrate's order of names with 17 digits, or is refused", async () => {
    const project = uses('node-pg-migrate');
    const dates = sql('20260101000000000_a.sql', '20260102000000000_b.sql');
    assert.equal((await loadSqlFiles(write(dates, undefined, project))).files.length, 2);
    await assert.rejects(
      loadSqlFiles(write({ ...dates, ...sql('1800000000000_c.sql') }, undefined, project)),
      /names with 17 digits, such as 20260101000000000_a\.sql, and others.*npx node-pg-migrate up/,
    );
  });

  /** What runs, with empty lines for the rest. Each is what the tool does with the same file. */
  const PARTS: Readonly<
    Record<string, readonly [text: string, part: string, project?: Files, others?: Files]>
  > = {
    'of Prisma, with any comments': [
      '-- Down migration: drop the table\n-- Rollback\ncreate table a ();\n-- Down Migration\ncreate table b ();\n',
      '-- Down migration: drop the table\n-- Rollback\ncreate table a ();\n-- Down Migration\ncreate table b ();\n',
      {},
      sql('migration_lock.toml'),
    ],
    'with an undo that is in a body, a string or at the end': [
      "create function f() returns int language plpgsql as $$ begin\n-- rollback\nreturn 1; end $$;\nselect '\n-- undo\n';\n-- rollback\n",
      "create function f() returns int language plpgsql as $$ begin\n-- rollback\nreturn 1; end $$;\nselect '\n-- undo\n';\n-- rollback\n",
    ],
    'with a longer comment': [
      'select 1;\n-- The next one can be undone by hand (down: drop it).\nselect 2;\n',
      'select 1;\n-- The next one can be undone by hand (down: drop it).\nselect 2;\n',
    ],
    'of dbmate, whose lines begin at the left': [
      '-- migrate:up\nselect 1;\n  -- migrate:down\nselect 2;\n-- migrate:down\nselect 3;\n',
      '\nselect 1;\n  -- migrate:down\nselect 2;\n\n\n',
    ],
    'of goose, in any case': ['--+GOOSE up\nselect 1;\n-- +goose   DOWN\nselect 2;', '\nselect 1;\n\n'],
    'of node-pg-migrate, with both directions': [
      'select 0;\n-- Up Migration (a)\nselect 1;\n--- down migration: b\nselect 2;\n',
      '\n-- Up Migration (a)\nselect 1;\n',
      uses('node-pg-migrate'),
    ],
    'of node-pg-migrate, downwards first': [
      '-- Down Migration\nselect 2;\n-- Up Migration\nselect 1;\n',
      '\n\n-- Up Migration\nselect 1;\n',
      uses('node-pg-migrate'),
    ],
    'of node-pg-migrate, which runs a file without its up part': [
      'select 1;\n-- Down Migration\nselect 2;\n',
      'select 1;\n-- Down Migration\nselect 2;\n',
      uses('node-pg-migrate'),
    ],
    'of Marv, which has no parts': [
      'select 1;\n-- rollback\nselect 2;\n',
      'select 1;\n-- rollback\nselect 2;\n',
      uses('marv'),
    ],
  };
  for (const [name, [text, part, project, others]] of Object.entries(PARTS))
    it(`runs the part ${name}`, async () => {
      const file = others === undefined ? '1_a.sql' : '1_a/migration.sql';
      const { files } = await loadSqlFiles(write({ [file]: text, ...others }, undefined, project));
      assert.deepEqual(
        files.map((each) => each.text),
        [part],
      );
    });
});
