/** SQL files on a real server, by psql and by the driver: both do the same. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from '../../../../../src/base/programs/findProgram.ts';
import type { ScriptResult } from '../../../../../src/base/sql/runScript.ts';
import { extensionAdvice } from '../../../../../src/base/sql/missingExtension.ts';
import { ScriptError } from '../../../../../src/base/sql/sqlScript.ts';
import { passFileLine } from '../../../../../src/extension/connection/serviceFile.ts';
import { runFileByDriver, runFileByPsql } from '../../../../../src/extension/database/sql/runFile.ts';
import { SqlError } from '../../../../../src/extension/window/sqlError.ts';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { withVariables } from '../../../../helpers/withVariables.ts';
import { until } from '../../../../workbench/until.ts';
import { query } from '../../../service/postgres/clients.ts';
import { useBranch } from '../../../service/postgres/useBranch.ts';

const never = new AbortController().signal;

describe('A SQL file', () => {
  const branch = useBranch();
  let login: BranchLogin;
  before(async () => {
    const { host, username, password, pathname } = new URL(branch.uri);
    login = { host, role: username, password, database: pathname.slice(1) };
  });

  const program = findProgram('psql');
  /** @returns a file with this text, in a folder whose name needs quotes in a shell */
  const fileOf = (text: string, name = 'it is.sql') => {
    const file = path.join(temporaryFolder(), name);
    writeFileSync(file, text);
    return file;
  };
  const byPsql = async (
    file: string,
    signal = never,
    onText: (text: string) => void = () => undefined,
    as = login,
  ) => {
    assert.ok(program !== undefined);
    const passFile = path.join(temporaryFolder(), 'pgpass');
    writeFileSync(passFile, passFileLine(as), { mode: 0o600 });
    let text = '';
    const write = (more: string) => onText((text += more));
    const code = await runFileByPsql({ program, login: as, file, passFile }, write, { signal, kill: never });
    return { code, text };
  };
  const byDriver = async (file: string, signal = never) => {
    const results: ScriptResult[] = [];
    let text = '';
    const output = {
      onResult: (result: ScriptResult) => void results.push(result),
      onText: (more: string) => void (text += more),
    };
    await runFileByDriver(login, file, output, signal);
    return { text, results };
  };
  const isRunning = (sql: string) =>
    until(sql, async () => {
      const rows = await query(
        branch.uri,
        `select 1 as one from pg_stat_activity where query like '${sql}%' and state = 'active'`,
      );
      return rows.length > 0;
    });

  const SCRIPT = `-- a comment; with a semicolon, and 'quotes'
create table item (id int primary key, name text);
copy item from stdin;
1\ttea;
2\tcup
\\.
create function one() returns int begin atomic select 1; end;
do $$ begin raise notice 'half; done'; end $$;
vacuum item;
copy item to stdout;
select id, name from item order by id;
`;

  it('is run by psql, with its output', async function () {
    if (program === undefined) return this.skip();
    const { code, text } = await byPsql(fileOf(SCRIPT));
    assert.equal(code, 0, text);
    assert.match(text, /CREATE TABLE\nCOPY 2\nCREATE FUNCTION\n[^]*1\ttea;\n[^]*\(2 rows\)/);
    // psql writes it to another stream.
    assert.match(text, /half; done/);
    await query(branch.uri, 'drop function one');
    await query(branch.uri, 'drop table item');
  });

  it('is run by the driver, statement by statement', async () => {
    const { text, results } = await byDriver(fileOf(`\uFEFF${SCRIPT}`));
    assert.deepEqual(
      results.map(({ command }) => command),
      ['CREATE TABLE', 'COPY 2', 'CREATE FUNCTION', 'DO', 'VACUUM', 'COPY 2', 'SELECT 2'],
    );
    assert.equal(text, 'NOTICE:  half; done\n1\ttea;\n2\tcup\n');
    assert.deepEqual(results.at(-1)?.rows, [
      ['1', 'tea;'],
      ['2', 'cup'],
    ]);
    await query(branch.uri, 'drop function one');
    await query(branch.uri, 'drop table item');
  });

  it('ends with its first error, whose line is named', async () => {
    const file = fileOf(
      'create table kept (id int);\n\nselect 1 /* two\nlines */\n+ nothing;\ndrop table kept;\n',
    );
    await assert.rejects(byDriver(file), (error) => {
      assert.ok(error instanceof ScriptError);
      assert.equal(error.line, 5);
      assert.match(error.message, /"nothing" does not exist/);
      return true;
    });
    if (program !== undefined) {
      await query(branch.uri, 'drop table kept');
      const { code, text } = await byPsql(file);
      assert.equal(code, 3);
      assert.match(text, /it is\.sql:\d: ERROR: {2}column "nothing" does not exist/);
    }
    await query(branch.uri, 'drop table kept');
  });

  it('says how to get an extension that is missing', async () => {
    const file = fileOf('select 1;\ncreate extension vector;\n');
    const advice = extensionAdvice('vector');
    await assert.rejects(byDriver(file), {
      line: 2,
      message: `extension "vector" is not available\n${advice}`,
    });
    if (program !== undefined) assert.ok((await byPsql(file)).text.endsWith(`HINT:  ${advice}\n`));
  });

  it('is rejected by the driver at a command of psql, and so is text in another encoding that it has not named', async () => {
    await assert.rejects(byDriver(fileOf('select 1;\n\\d item\n')), /"\\d item" is a command of psql/);
    const latin = fileOf('');
    writeFileSync(latin, Buffer.from([0x73, 0xe4]));
    await assert.rejects(byDriver(latin), /invalid byte sequence.*\nSave the file as UTF-8/);
    writeFileSync(latin, Buffer.from("set client_encoding = 'LATIN1'; select 'ä'", 'latin1'));
    await byDriver(latin);
  });

  it('keeps a few of many rows', async () => {
    const { results } = await byDriver(fileOf('select generate_series(1, 100000)'));
    assert.deepEqual([results[0]?.rows.length, results[0]?.rowCount], [200, 100_000]);
  });

  it('is not run by psql if it was canceled before', async function () {
    if (program === undefined) return this.skip();
    assert.deepEqual(await byPsql(fileOf('create table never (id int)'), AbortSignal.abort()), {
      code: undefined,
      text: '',
    });
  });

  for (const how of ['psql', 'the driver'])
    it(`is canceled in the middle of a statement by ${how}`, async function () {
      if (how === 'psql' && program === undefined) return this.skip();
      const cancel = new AbortController();
      const sql = `select pg_sleep(600) as "${how}"`;
      const file = fileOf(`${sql};\ncreate table never (id int);`);
      const run = how === 'psql' ? byPsql(file, cancel.signal) : byDriver(file, cancel.signal);
      const ended = run.then(
        ({ ...result }) => result,
        (error: unknown) => error,
      );
      await isRunning(sql);
      cancel.abort();
      const result = await ended;
      if (how === 'psql') assert.partialDeepStrictEqual(result, { code: 3 });
      else assert.match(String(result), /Canceled\./);
      const left = await query(
        branch.uri,
        `select 1 as one from pg_stat_activity where query like '${sql}%' and state = 'active'`,
      );
      assert.deepEqual(left, []);
      await assert.rejects(query(branch.uri, 'select 1 from never'));
    });

  it('connects only where it should, with any libpq variables in the environment', async function () {
    if (program === undefined) return this.skip();
    const elsewhere = {
      PGHOSTADDR: '127.0.0.2',
      PGSERVICE: 'none',
      PGPASSWORD: 'wrong',
      PGOPTIONS: '-c search_path=nowhere',
      PGSSLMODE: 'disable',
    };
    await withVariables(elsewhere, async () => {
      const { code, text } = await byPsql(fileOf('\\! env\nselect current_database() as here;'));
      assert.equal(code, 0, text);
      assert.ok(text.includes(login.database));
      assert.ok(!text.includes(login.password), 'the environment of programs has the password');
      assert.doesNotMatch(text, /wrong|PGHOSTADDR|PGSERVICE|PGOPTIONS/);
    });
  });

  it('is not run with another password', async () => {
    const wrong = { ...login, password: 'wrong' };
    const output = { onResult: () => undefined, onText: () => undefined };
    const refused = /password authentication failed for user "app_owner"/;
    await assert.rejects(
      runFileByDriver(wrong, fileOf('select 1'), output, never),
      (error) => error instanceof SqlError && refused.test(error.message),
    );
    if (program === undefined) return;
    const { code, text } = await byPsql(fileOf('select 1'), never, undefined, wrong);
    assert.equal(code, 2);
    assert.match(text, refused);
  });
});
