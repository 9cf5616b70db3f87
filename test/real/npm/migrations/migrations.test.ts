/** The SQL of `migrate` and `seed`: which files of a folder run, and each as `psql -f` runs it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { runStep, requireNonEmptyDatabase } from '../../../../src/npm/library/migrations.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { writeFiles } from '../../../helpers/writeFiles.ts';
import { query } from '../../service/postgres/clients.ts';
import { SCRIPTS } from './rightScripts.ts';
import { useDatabases } from './useDatabases.ts';

const STATE = `select coalesce(table_to_xml(oid::regclass, true, false, '')::text, '') || relname from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace
union all select pg_get_indexdef(indexrelid) || indisvalid from pg_index join pg_class on oid = indexrelid
  where relnamespace = 'public'::regnamespace
union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
union all select definition from pg_rules where schemaname = 'public' order by 1`;

const psql = (url: string, ...args: readonly string[]) =>
  spawnSync('psql', ['--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '--dbname', url, ...args], {
    encoding: 'utf8',
    env: { ...process.env, PGSSLROOTCERT: '', LC_ALL: 'C' },
  });

describe('SQL of tests', () => {
  const database = useDatabases();
  const run = async (text: string | Buffer, url: string) => {
    const folder = writeFiles({ 'a.sql': text });
    await runStep(folder, 'a.sql', url);
  };

  it('runs as psql -f runs it', async function () {
    const url = await database('ours');
    for (const [name, text] of Object.entries(SCRIPTS))
      await run(text, url).catch((error: unknown) => assert.fail(`${name}: ${String(error)}`));
    const state = await query(url, STATE);
    assert.deepEqual(await query(url, "select string_agg(id::text, ' ' order by id) from item"), [
      '1 2 3 4 5 6 8 9 10 11 13 14 15 16 17 18',
    ]);
    assert.deepEqual(await query(url, 'select id from lines order by id'), [1, 2, 3]);
    assert.deepEqual(await query(url, 'select d from "a;b""c"'), [
      "x;'y\\",
      "it's; \\",
      "a'';",
      '1\n;2',
      'A;',
      ";'",
      ' $$;$$ $b$;$b$ ',
      ';',
    ]);

    const theirs = await database('theirs');
    if (psql(theirs, '--command', '\\restrict a').status !== 0) return this.skip();
    for (const [name, text] of Object.entries(SCRIPTS)) {
      const file = path.join(writeFiles({ 'a.sql': text }), 'a.sql');
      const { status, stderr } = psql(theirs, '--file', file);
      assert.equal(status, 0, `${name}: ${stderr}`);
    }
    assert.deepEqual(state, await query(theirs, STATE));
  });

  it('names the file and the line of an error, and stops', async () => {
    const url = await database('wrong');
    const cases: readonly (readonly [string | Buffer, RegExp])[] = [
      ['create table one (id int);\n\nselect 1,\n  nonsense;', /a\.sql:4: column "nonsense" does not exist$/],
      ["select '😀';\nselect '😀' +\n\n nonsense", /a\.sql:4: column "nonsense" does not exist/],
      ['-- here\n\nselect 1/0;\ncreate table two (id int)', /a\.sql:3: division by zero/],
      [
        'create table a (id int);\ncopy a from stdin;\n1\nx\n\\.\n',
        /a\.sql:2: .*"x"\nCOPY a, line 2, column id/,
      ],
      ['copy one from stdin; select 1;\n1\n\\.\n', /a\.sql:1: Put what follows this COPY in a line after/],
      [
        "do $$ begin\n raise 'no' using hint = 'try';\nend $$",
        /a\.sql:1: no\ntry\nPL\/pgSQL function .* line 2/,
      ],
      [
        'select 1;\n\\set name value\nselect 2',
        /a\.sql:2: "\\set name value" is a command of psql.*psql "\$DATABASE_URL"/,
      ],
      [
        "select 1;\ncomment on extension plpgsql is 'x'",
        /a\.sql:2: must be owner.*\nA superuser owns .*plpgsql/,
      ],
      ['select 1 \\gset', /a\.sql:1: "\\gset" is a command of psql/],
      ["select 1;\nselect 'a", /a\.sql:2: unterminated quoted string/],
      ['\u00A0select 1', /a\.sql:1: syntax error/],
      ['begin;\ncreate table two (id int)', /a\.sql ends within a transaction\. Add "commit;"/],
      [' \n-- nothing\n;', /a\.sql has no SQL statements/],
      [
        Buffer.from('select 1;\ncreate table ü ()', 'latin1'),
        /a\.sql:2: invalid byte sequence.*\nSave the file as UTF-8, or let it begin with .*LATIN1/,
      ],
      [Buffer.from('select 1;', 'utf16le'), /a\.sql:1: This is no text in UTF-8.*pg_restore/],
      ["set client_encoding = 'SJIS';\nselect 1;", /a\.sql:2: Only psql reads a file in SJIS/],
    ];
    for (const [text, message] of cases) await assert.rejects(run(text, url), message);
    const tables =
      "select relname::text from pg_class where relkind = 'r' and relname in ('one', 'two', 'a')";
    assert.deepEqual(await query(url, `${tables} order by 1`), ['a', 'one']);
  });

  it('runs only forwards in files that have both directions, in a transaction if their tool does', async () => {
    const up = 'create table "{}" (id int); create index concurrently on "{}" (id)';
    const url = await database('directions');
    const inTransaction =
      /a\.sql:\d+ says "CREATE INDEX CONCURRENTLY cannot run inside a transaction block".*run: '/;
    const files: Readonly<Record<string, readonly [string, string, RegExp?]>> = {
      dbmate: ['-- migrate:up', '-- migrate:down', inTransaction],
      // Postgres makes one transaction of the text.
      'dbmate without': [
        '-- migrate:up transaction:false',
        '-- migrate:down transaction:false',
        inTransaction,
      ],
      goose: [
        '-- +goose Up\n-- +goose StatementBegin',
        '-- +goose StatementEnd\n-- +goose Down',
        inTransaction,
      ],
      'goose without': ['-- +goose NO TRANSACTION\n-- +goose Up', '-- +goose Down'],
      'sql-migrate': ['-- +migrate Up', '-- +migrate Down', inTransaction],
      'sql-migrate without': ['-- +migrate Up notransaction', '-- +migrate Down'],
      'node-pg-migrate': ['-- Up Migration', '-- Down Migration', inTransaction],
      tern: ['-- a comment', '---- create above / drop below ----', inTransaction],
      'tern without': ['---- tern: disable-tx ----', '---- create above / drop below ----'],
    };
    for (const [name, [begin, end, refused]] of Object.entries(files)) {
      const text = `${begin}\n${up.replaceAll('{}', name)};\n${end}\ndrop table "${name}";\n`;
      if (refused !== undefined) await assert.rejects(run(text, url), refused);
      await run(refused ? text.replaceAll(' concurrently', '') : text, url);
    }
    const tables = await query(
      url,
      "select relname::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
    );
    assert.deepEqual(new Set(tables), new Set(Object.keys(files)));
  });

  it('fails with the last output of a command that writes much', async () => {
    const program = "process.stdout.write('x'.repeat(5e6) + '\\nthe reason\\n'); process.exitCode = 3";
    const run = `"${process.execPath}" -e "${program}"`;
    const step = runStep(temporaryFolder(), { run, files: [] }, 'postgresql://a:b@127.0.0.1/c');
    await assert.rejects(step, /ended with 3:\n…x{1000,100000}\nthe reason\n$/);
  });

  it('must create something', async () => {
    const url = await database('empty');
    await run('create table gone (); drop table gone', url);
    await assert.rejects(requireNonEmptyDatabase(url), /created nothing in the database/);
    for (const sql of ['create schema other', 'create function f() returns int return 1']) {
      const other = await database(`not_empty_${sql.length}`);
      await run(sql, other);
      await requireNonEmptyDatabase(other);
    }
  });
});
