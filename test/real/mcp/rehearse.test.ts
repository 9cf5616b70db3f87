/** The tool `rehearse` of the MCP program as it ships, on the local service, while no window of VS Code runs. */
import assert from 'node:assert/strict';
import { MAX_OUTPUT } from '../../../src/extension/agents/outputText.ts';
import type { Agent } from '../../helpers/agent.ts';
import { branchCalls, emptyAccount, type Api } from '../../helpers/branchCalls.ts';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';
import { query } from '../service/postgres/clients.ts';
import { connectAgent } from './connectAgent.ts';

/** Where it doesn't matter how long others wait, which depends on the machine. */
const anyLock = { maxLockMs: 60_000 };

describe('The tool rehearse', () => {
  let service: LocalService;
  let api: Api;
  let agent: Agent | undefined;
  let main: { readonly projectId: string; readonly branchId: string };
  let uri: string;

  before(async () => {
    service = await startLocalService({ args: emptyAccount() });
    api = branchCalls(service);
    const created = await api.change('POST', '', { project: { name: 'Shop' } });
    main = { projectId: created.project.id, branchId: created.branch.id };
    uri = api.uri(created);
    await query(uri, 'create table users (id int primary key, nick text, email text)');
    await query(
      uri,
      "insert into users select g, case when g <= 1204 then 'n' end, 'e' || g % 1500 from generate_series(1, 2000) g",
    );
    agent = await connectAgent({ HOSTED_POSTGRES_DATA_DIR: service.dataDir });
  });

  const call = async (tool: string, input: object) => {
    assert(agent !== undefined);
    return agent.call(tool, { ...main, ...input });
  };
  const rehearse = (sql: string, more: object = {}) => call('rehearse', { sql, ...more });

  afterEach('no branch is left', async () => {
    const names = (await api.branches(main.projectId)).map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => name.startsWith('rehearsal-')),
      [],
    );
  });

  it('says what would be lost and who would wait, and changes nothing', async () => {
    const { verdict, sentences, statements, blocked, lost } = await rehearse(
      'begin;\nalter table users drop column nick;\ncommit;\n',
      anyLock,
    );
    assert.equal(verdict, 'dangerous');
    assert.deepEqual(sentences, [
      'Loses 1,204 values of public.users.nick.',
      'The only known way back is Undo, within 24 hr.',
    ]);
    assert.deepEqual(lost, [{ name: 'public.users.nick', kind: 'values', count: 1204 }]);
    assert.match(JSON.stringify(blocked), /^\[\{"table":"public.users","blocks":"reads","ms":[\d.]+\}\]$/);
    assert.match(
      JSON.stringify(statements),
      /^\[\{"sql":"begin;","ms":[\d.]+\},\{"sql":"alter table users drop column nick;","ms":[\d.]+\},\{"sql":"commit;"/,
    );
    assert.deepEqual(await query(uri, 'select count(nick)::int from users'), [1204]);
  });

  it('calls a migration safe, or dangerous if others would wait longer than they may', async () => {
    const sql = 'alter table users add column age int';
    assert.equal((await rehearse(sql, anyLock))['verdict'], 'safe');
    const { verdict, sentences } = await rehearse(sql, { maxLockMs: 0 });
    const index = await rehearse('create index on users (nick)', { maxLockMs: 0 });
    assert.match(JSON.stringify(index['statements']), /"safer":"Use CREATE INDEX CONCURRENTLY/);
    assert.equal(verdict, 'dangerous');
    assert.match(String(sentences), /^Blocks all reads and writes of public\.users for [\d.]+ (?:ms|sec)\.$/);
  });

  it('says where a migration fails', async () => {
    const { verdict, sentences } = await rehearse('select 1;\ncreate unique index on users (email);\n');
    assert.equal(verdict, 'failed');
    assert.match(
      String(sentences),
      /^Fails at “create unique index on users \(email\);?”: could not create unique/,
    );
    const command = await rehearse('\\connect other\n');
    assert.match(String(command['sentences']), /\\connect/);
  });

  it('has a report that each client shows, however long it and its sentences are', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `a_table_with_a_long_name_${index}`);
    await query(
      uri,
      `do $$ begin ${names.map((name) => `create table ${name} as select 1 id;`).join(' ')} end $$`,
    );
    const report = await rehearse(names.map((name) => `drop table ${name};`).join('\n'), anyLock);
    const failing = await rehearse("select repeat('x', 30000)::int");
    await query(uri, `drop table ${String(names)}`);
    assert.ok(Buffer.byteLength(JSON.stringify(report)) <= MAX_OUTPUT);
    assert.equal(report['truncated'], true);
    assert.match(
      JSON.stringify(report),
      /"sentences":\["Loses 1 row.*"blocked":\[\{.*"lost":\[\{.*"statements":\[\{/,
    );
    assert.ok(Buffer.byteLength(JSON.stringify(failing)) <= MAX_OUTPUT);
    assert.match(String(failing['sentences']), /^Fails at .*invalid input syntax.*x…$/m);
  });

  it('rehearses the way back', async () => {
    const up = 'alter table users add age int;\ndrop table if exists notes;\n';
    const restored = await rehearse(up, { ...anyLock, down: 'alter table users drop age;\n' });
    assert.equal(restored['verdict'], 'safe');
    const { verdict, sentences } = await rehearse(up, {
      ...anyLock,
      down: 'select 1;\ncreate table copies (id int);\n',
    });
    assert.equal(verdict, 'safe');
    assert.deepEqual(JSON.parse(JSON.stringify(sentences)).slice(1), [
      'The way back leaves: CREATE TABLE public.copies',
      'The way back leaves: age integer',
    ]);
    const forgotten = await rehearse('alter table users alter nick set default $$none$$', {
      ...anyLock,
      down: 'select 1',
    });
    assert.equal(forgotten['verdict'], 'dangerous');
    assert.deepEqual(forgotten['sentences'], [
      "Way back: Doesn't restore this part of the schema: nick text",
      "The way back leaves: nick text DEFAULT 'none'::text",
    ]);
    const failing = await rehearse('select 1', { down: 'select 1;\ndrop table nothing;\n' });
    assert.equal(failing['verdict'], 'dangerous');
    assert.match(
      String(failing['sentences']),
      /^Way back: Fails at “drop table nothing;?”: table "nothing" does not/,
    );
  });

  it('is what runSql says afterwards on a branch of the agent', async () => {
    const { projectId } = main;
    assert(agent !== undefined);
    const { branchId } = await agent.call('createBranch', { projectId, hours: 1 });
    const { note } = await call('runSql', { branchId, sql: 'alter table users drop nick', write: true });
    assert.match(
      String(note),
      /^Loses the values of 1 column of public\.users\. .* Blocks all reads and writes of public\.users\.$/,
    );
    await call('deleteBranch', { branchId });
  });

  it('cannot copy a branch that expires, such as one of the agent', async () => {
    const { projectId } = main;
    assert(agent !== undefined);
    const { branchId } = await agent.call('createBranch', { projectId, hours: 1 });
    await assert.rejects(rehearse('select 1', { branchId }), /expires, so it can't be copied/);
    await call('deleteBranch', { branchId });
  });
});
