/** `npx hosted-postgres rehearse`, built and laid out as npm installs it. Timers: rehearsal/copySettings.ts. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PROJECT_DATA_FOLDER } from '../../../src/localService/ownFolder.ts';
import { REHEARSE_HELP } from '../../../src/npm/options.ts';
import { ServiceApi } from '../../../src/npm/api.ts';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { installProgram, startProgram } from '../../helpers/npxProgram.ts';
import { accountFile, startLocalService, temporaryFolder } from '../../helpers/localService.ts';
import { query } from '../service/postgres/clients.ts';
import { projectRoot } from '../../workbench/folders.ts';

const PG = JSON.stringify(path.join(projectRoot, 'node_modules/pg/lib/index.js'));

/** A command that runs each text in one session, as a migration tool does. */
function sql(...texts: readonly string[]): string {
  const file = path.join(temporaryFolder(), 'migration.cjs');
  const script = [
    `const { Client } = require(${PG});`,
    'const c = new Client(process.env.DATABASE_URL);',
    `(async () => { await c.connect(); for (const text of ${JSON.stringify(texts)}) await c.query(text); await c.end(); })()`,
    '.catch((error) => { console.error(error.message); process.exit(2); });',
  ];
  writeFileSync(file, script.join('\n'));
  return `"${process.execPath}" "${file}"`;
}

describe('npx hosted-postgres rehearse', () => {
  let [file, folder, temporary] = ['', '', ''];

  const run = async (...args: string[]) => {
    const program = startProgram([process.execPath, file, ...args], folder, temporary);
    return { code: await program.ended, output: program.output() };
  };
  /** Where it doesn't matter how long others wait, which depends on the machine. */
  const rehearse = async (...args: string[]) => run('rehearse', ...args, '--longest-lock', '60000');

  before(async () => {
    file = await installProgram();
    [folder, temporary] = [temporaryFolder(), temporaryFolder()];
    chmodSync(temporary, 0o1777);
    const made = await run(
      '--run',
      sql(
        'create table users (id int primary key, nick text, email text)',
        'insert into users select g, case when g <= 1204 then $$n$$ || g end, $$e$$ || g % 1500 from generate_series(1, 2000) g',
      ),
    );
    assert.equal(made.code, 0, made.output);
  });

  it('says that a migration is safe, and does not apply it', async () => {
    const migration = sql('begin', 'alter table users add column age int', 'commit');
    const first = await rehearse('--run', migration);
    assert.equal(first.code, 0, first.output);
    assert.match(
      first.output,
      /^Rehearsed on a copy of main\.\nSafe: 3 statements, [\d.]+ (?:ms|sec), others wait [\d.]+ (?:ms|sec) at most\.$/m,
    );
    assert.match(
      first.output,
      /alter table users add column age int\n +ALTER TABLE\n +reads and writes of public\.users: up to [\d.]+ (?:ms|sec)/,
    );
    const second = await rehearse('--run', migration);
    assert.equal(second.code, 0, second.output);
  });

  it('says what would be lost', async () => {
    const { code, output } = await run(
      'rehearse',
      '--run',
      sql('alter table users drop column nick', 'drop table users'),
    );
    assert.equal(code, 3, output);
    assert.match(output, /^Loses 2,000 rows of public\.users\.$/m);
    const column = await run('rehearse', '--run', sql('alter table users drop column nick'));
    assert.equal(column.code, 3, column.output);
    assert.match(column.output, /^Loses 1,204 values of public\.users\.nick\.$/m);
    const deleted = await run('rehearse', '--run', sql('delete from users where id <= 7'));
    assert.match(deleted.output, /^Loses 7 rows of public\.users\.$/m);
    const truncated = await run('rehearse', '--run', sql('truncate users'));
    assert.match(truncated.output, /^Loses 2,000 rows of public\.users\.$/m);
  });

  it('says whether another type keeps the values', async () => {
    const wider = await rehearse('--run', sql('alter table users alter column id type bigint'));
    assert.equal(wider.code, 0, wider.output);
    assert.match(wider.output, /^Written again: public\.users \(\d+ kB\)$/m);
    const cut = await run(
      'rehearse',
      '--run',
      sql('alter table users alter column nick type varchar(3) using left(nick, 3)'),
    );
    assert.equal(cut.code, 3, cut.output);
    assert.match(cut.output, /^Changes values of public\.users\.nick: text → character varying\(3\)\.$/m);
  });

  it('does not count rows that a policy hides', async () => {
    const hidden = sql(
      'alter table users enable row level security, force row level security',
      'create policy few on users using (id < 10)',
      'delete from users',
    );
    const { code, output } = await run('rehearse', '--run', hidden);
    assert.notEqual(code, 0, output);
    assert.match(output, /query would be affected by row-level security policy for table "users"/);
  });

  it('says how long others would wait, to the end of the transaction', async () => {
    const migration = sql('begin', 'alter table users add column age int', 'select pg_sleep(1.1)', 'commit');
    const { code, output } = await run('rehearse', '--run', migration);
    assert.equal(code, 3, output);
    assert.match(output, /^Blocks all reads and writes of public\.users for [\d.]+ sec\.$/m);
    assert.equal((await rehearse('--run', migration)).code, 0);
  });

  it('says where a migration fails', async () => {
    const { code, output } = await run(
      'rehearse',
      '--json',
      '--run',
      sql('create unique index on users (email)'),
    );
    assert.equal(code, 1, output);
    const report = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)) as Record<
      string,
      unknown
    >;
    assert.equal(report['verdict'], 'failed');
    assert.match(
      String(report['sentences']),
      /^Fails at “create unique index on users \(email\)”: could not create unique index/,
    );
  });

  it('rehearses the way back that --down names', async () => {
    const up = ['rehearse', '--run', sql('alter table users drop column nick')];
    const { code, output } = await run(...up, '--down', sql('alter table users add column nick text'));
    assert.equal(code, 3, output);
    assert.match(output, /^Way back: Loses 1,204 values of public\.users\.nick\.$/m);
    assert.match(output, /^Way back:\n +[\d.]+ (?:ms|sec) {2}alter table users add column nick text$/m);
    const failing = await run(...up, '--down', 'exit 4');
    assert.equal(failing.code, 3, failing.output);
    assert.match(failing.output, /^Way back: Fails: the command ended with code 4\.$/m);
    const empty = await run(...up, '--down', ' ');
    assert.match(empty.output, /--down must not be empty/);
  });

  it('rehearses a folder, with a verdict for each file and the line of what is dangerous', async () => {
    const migrations = temporaryFolder();
    const write = (name: string, text: string) => writeFileSync(path.join(migrations, name), text);
    write('0001_age.sql', 'alter table users add age int;\n');
    write('0002_nick.sql', '-- Nobody has one.\nselect 1;\n\nalter table users drop column nick;\n');
    const lost = await rehearse(migrations);
    assert.equal(lost.code, 3, lost.output);
    assert.match(
      lost.output,
      /^Loses 1,204 values of public\.users\.nick\. \(0002_nick\.sql:4\)\n {2}0001_age\.sql: safe\n {2}0002_nick\.sql: dangerous\n/m,
    );
    write('0002_nick.sql', 'begin;\ncreate unique index on users\n  (emails);\ncommit;\n');
    write('0003_last.sql', 'select 1;\n');
    const failed = await rehearse(migrations);
    assert.equal(failed.code, 1, failed.output);
    assert.match(
      failed.output,
      /^Fails at “create unique index on users \(emails\);”: column "emails" does not exist \(0002_nick\.sql:\d\)\n {2}0001_age\.sql: safe\n {2}0002_nick\.sql: failed\n {2}0003_last\.sql: not run\n/m,
    );
  });

  it('runs the own command of the tool that the folder is for, which applies what is pending', async () => {
    symlinkSync(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
    writeFileSync(path.join(folder, 'package.json'), '{ "devDependencies": { "node-pg-migrate": "8" } }');
    mkdirSync(path.join(folder, 'migrations'));
    const write = (name: string, up: string, down: string) =>
      writeFileSync(
        path.join(folder, 'migrations', name),
        `-- Up Migration\n${up};\n-- Down Migration\n${down};\n`,
      );
    write('1700000000000_city.sql', 'alter table users add city text', 'alter table users drop city');
    const applied = await run('--run', 'npx node-pg-migrate up');
    assert.equal(applied.code, 0, applied.output);
    write('1700000000001_nick.sql', 'alter table users drop nick', 'alter table users add nick text');
    const { code, output } = await run('rehearse', 'migrations');
    assert.equal(code, 3, output);
    assert.match(
      output,
      /^Loses 1,204 values of public\.users\.nick\. \(1700000000001_nick\.sql:1\)\nWay back: Loses 1,204 values of public\.users\.nick\.\n {2}1700000000000_city\.sql: not run\n {2}1700000000001_nick\.sql: dangerous\n/m,
    );
  });

  it('leaves no branch', async () => {
    await run('rehearse', '--run', sql('alter table users drop column nick'));
    const account = readFileSync(accountFile(path.join(folder, PROJECT_DATA_FOLDER)), 'utf8');
    assert.match(account, /"name":\s*"main"/);
    assert.doesNotMatch(account, /"name":\s*"rehearsal-/);
  });

  it('rehearses on a branch of an account, whose service does not show statements, and deletes it', async () => {
    const service = await startLocalService();
    const proxy = await FaultProxy.start({
      upstream: service.baseUrl,
      rewrite: (reply, call) => (call.endsWith('/rehearsal') ? { status: 404, json: {} } : reply),
    });
    const api = new ServiceApi(service.baseUrl, service.key);
    const [project] = await api.listProjects();
    const id = project?.id ?? assert.fail('no project');
    const [main] = await api.listBranches(id);
    const uri = main && (await api.findUrl(main));
    await query(
      uri ?? assert.fail('no database'),
      'create table users as select g as id, $$n$$ as nick from generate_series(1, 1204) g',
    );
    const before = (await api.listBranches(id)).map(({ name }) => name);
    const account = { NEON_API_KEY: service.key, NEON_API_HOST: proxy.baseUrl, NEON_PROJECT_ID: id };
    const rehearsed = async (...args: string[]) => {
      const command = [process.execPath, file, 'rehearse', '--account', '--longest-lock', '60000', ...args];
      const program = startProgram(command, folder, temporary, account);
      return { code: await program.ended, output: program.output() };
    };
    const lost = await rehearsed(
      '--from',
      main?.id ?? '',
      '--run',
      sql('alter table users drop column nick'),
    );
    assert.equal(lost.code, 3, lost.output);
    assert.match(lost.output, /^Loses 1,204 values of public\.users\.nick\.$/m);
    assert.match(lost.output, /^Statements and locks were read through a second connection/m);
    const failed = await rehearsed('--from', main?.id ?? '', '--run', sql('drop table nothing'));
    assert.equal(failed.code, 1, failed.output);
    assert.deepEqual(
      (await api.listBranches(id)).map(({ name }) => name),
      before,
    );
  });

  it('rehearses on a dump, as text or an archive, and leaves the own data alone', async () => {
    const dump = path.join(temporaryFolder(), 'like-production.sql');
    const text = [
      'set standard_conforming_strings = on;',
      'create table public.pets (id integer, name text);',
      'copy public.pets (id, name) from stdin;',
      '1\tRex',
      '2\t\\N',
      '\\.',
      '',
    ].join('\n');
    writeFileSync(dump, text);
    const drop = ['--run', sql('alter table pets drop column name')];
    const { code, output } = await run('rehearse', '--from', dump, ...drop);
    assert.equal(code, 3, output);
    assert.match(
      output,
      /^Rehearsed on a copy of .*like-production\.sql\.\nLoses 1 value of public\.pets\.name\.$/m,
    );
    const own = await run('rehearse', ...drop);
    assert.match(own.output, /relation "pets" does not exist/);
    const archive = path.join(temporaryFolder(), 'production.dump');
    writeFileSync(archive, 'PGDMP broken');
    const broken = await run('rehearse', '--from', archive, ...drop);
    assert.notEqual(broken.code, 0);
    assert.match(
      broken.output,
      /production\.dump: (?:pg_restore: error: |is an archive\. Install pg_restore)/,
    );
  });

  it('asks which one is meant if a branch and a dump have the same name', async () => {
    writeFileSync(path.join(folder, 'main'), 'create table public.pets (id integer);\n');
    const drop = ['--run', sql('drop table pets')];
    const both = await run('rehearse', '--from', 'main', ...drop);
    assert.notEqual(both.code, 0, both.output);
    const asked =
      /"main" is a branch and a dump\. For the branch, use --from (br-\S+); for the dump, --from (.+)$/m;
    const [, id = '', file = ''] = asked.exec(both.output) ?? [];
    const ofBranch = await run('rehearse', '--from', id, ...drop);
    assert.match(ofBranch.output, /table "pets" does not exist/);
    const ofDump = await rehearse('--from', file, ...drop);
    assert.equal(ofDump.code, 0, ofDump.output);
    assert.match(ofDump.output, /^Rehearsed on a copy of .*main\.\nSafe/m);
    rmSync(file);
  });

  it('needs a key and a project for an account', async () => {
    const { code, output } = await run('rehearse', '--account', '--run', 'true');
    assert.notEqual(code, 0);
    assert.match(output, /--account needs NEON_API_KEY and NEON_PROJECT_ID/);
  });

  it('refuses what it cannot do, and shows how it is called', async () => {
    const unknown = await run('rehearse', '--from', 'nothing', '--run', 'true');
    assert.notEqual(unknown.code, 0);
    assert.match(unknown.output, /There is no branch nothing/);
    const without = await run('rehearse');
    assert.match(without.output, /rehearse needs --run COMMAND or a folder/);
    assert.equal((await run('rehearse', '--help')).output, REHEARSE_HELP);
  });
});
