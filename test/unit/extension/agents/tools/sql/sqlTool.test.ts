import { answers, questions } from '../../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { accountId } from '../../../../../../src/extension/account/accounts.ts';
import { AgentBranches } from '../../../../../../src/extension/inventory/agentBranches.ts';
import { fieldsOf } from '../../../../../../src/base/fieldsOf.ts';
import { MAX_OUTPUT } from '../../../../../../src/extension/agents/outputText.ts';
import type { WindowDependencies } from '../../../../../../src/extension/agents/ui/runInWindow.ts';
import { callTool } from '../../../../../helpers/callTool.ts';
import { MemoryMap, connectScripted, type ScriptedModel } from '../../../../../helpers/connectedModel.ts';
import { Conversation, type Reply } from '../../../../../helpers/postgresConversation.ts';
import { toolDependencies } from '../../../../../helpers/toolDependencies.ts';
import { hideKnownSecrets, redact } from '../../../../../../src/base/redact.ts';
import { computeRecord } from '../../../../../helpers/scriptedService.ts';
import { until } from '../../../../../workbench/until.ts';
import { listen } from '../../../../../helpers/listen.ts';

const ids = { projectId: 'shop', branchId: 'br-main' };
const expiresAt = new Date(Date.now() + 3_600_000).toISOString();

describe('runSql as a tool', () => {
  let model: ScriptedModel;
  let deps: WindowDependencies;
  let databases: object[];
  let computes: object[];
  let host: string;
  let hasReader: boolean;

  beforeEach(async () => {
    answers.length = 0;
    questions.length = 0;
    host = '127.0.0.1:1';
    hasReader = true;
    databases = [{ name: 'app', owner_name: 'app_owner' }];
    computes = [computeRecord('ep-main', { branch_id: 'br-main', host })];
    model = await connectScripted((call) => {
      if (call.endsWith('/branches'))
        return {
          branches: [
            { id: 'br-main', name: 'main', default: true },
            { id: 'br-agent', name: 'agent', parent_id: 'br-main', expires_at: expiresAt },
          ],
        };
      if (call.endsWith('/databases')) return { databases };
      if (call.endsWith('/schema')) return { sql: '' };
      if (call.endsWith('/reader'))
        return hasReader ? { reader: { role: 'service_reader', password: 'r3ader' } } : 404;
      if (call.endsWith('/roles')) return { roles: [{ name: 'app_owner' }] };
      if (call.endsWith('/connection_uri')) return { uri: `postgresql://app_owner:s3cret@${host}/app` };
      return call.endsWith('/endpoints') ? { endpoints: computes } : {};
    });
    const agentBranches = new AgentBranches(new MemoryMap());
    agentBranches.add({
      account: accountId(model.account),
      ...ids,
      branchId: 'br-agent',
      agent: 'claude',
      name: 'agent',
      createdAt: new Date().toISOString(),
      expiresAt,
    });
    deps = { ...toolDependencies(model), agentBranches };
  });

  const run = (input: object, agent = 'claude') => callTool(deps, 'runSql', input, { agent });
  const asked = () => model.service.requests.some((call) => call.endsWith('/connection_uri'));

  /** Starts a server with one reply behind the computes of both branches. */
  const serve = async (reply: Reply) => {
    const server = createServer((socket) => {
      new Conversation(socket, () => reply);
    });
    host = `127.0.0.1:${await listen(server)}`;
    computes = ['br-main', 'br-agent'].map((branch_id) =>
      computeRecord(`ep-${branch_id}`, { branch_id, host }),
    );
  };

  it('writes only to a branch that the agent has created', async () => {
    const write = { sql: 'select 1', write: true };
    await assert.rejects(
      run({ ...ids, ...write }),
      /^Error: You may only read br-main\. Write to a branch that you have created/,
    );
    await assert.rejects(run({ ...ids, ...write, branchId: 'br-agent' }, 'codex'), /You may only read/);
    assert.equal(asked(), false);
    await assert.rejects(run({ ...ids, ...write, branchId: 'br-agent' }), /no compute to connect to/);
  });

  it('reads as the role that only reads, if the service has one', async () => {
    await serve({ columns: ['id'], rows: [['1']] });
    await run({ ...ids, sql: 'select 1' });
    await run({ ...ids, sql: 'select 1', branchId: 'br-agent' });
    assert.equal(asked(), false);
    assert.deepEqual(questions, []);
  });

  it('returns rows as they are, and says if it has hidden a known secret', async () => {
    const secrets: string[] = [];
    const log = {
      ...deps.log,
      clean: (text: string) => redact(text, secrets),
      hideKnownSecrets: (text: string) => hideKnownSecrets(text, secrets),
    };
    deps = { ...deps, log };
    const exact = ['{"key": "id"}', 'the bearer of this', 'a://b:c@d', 'password=x', 'a s3cret-key'];
    await serve({ columns: ['text'], rows: exact.map((text) => [text]) });
    const input = { ...ids, sql: 'select text', branchId: 'br-agent', write: true };
    const { rows, note } = fieldsOf(await run(input));
    assert.deepEqual([rows, note], [exact.map((text) => [text]), undefined]);
    secrets.push('s3cret-key');
    const hidden = fieldsOf(await run(input));
    assert.deepEqual(
      hidden['rows'],
      [...exact.slice(0, -1), 'a ‹redacted›'].map((text) => [text]),
    );
    assert.match(String(hidden['note']), /‹redacted›, the data has a key or password of the user/);
  });

  it('asks about each statement that reads as the owner, unless the agent has made the branch', async () => {
    await serve({ columns: ['id'], rows: [['1']] });
    hasReader = false;
    const input = { ...ids, sql: "select 'one'" };
    for (const isLocal of [true, false]) {
      Object.defineProperty(deps.session.connection, 'isLocal', { value: isLocal, configurable: true });
      await assert.rejects(run(input), /did not approve/);
      await assert.rejects(run({ ...input, branchId: 'br-agent' }, 'codex'), /did not approve/);
      const compare = { ...ids, branchId: 'br-agent', database: 'app', rowsOf: 'pets' };
      await assert.rejects(callTool(deps, 'compareSchema', compare), /did not approve/);
      assert.match(questions.pop() ?? '', /^Let claude read the branch main \(br-main\) .* It reads: pets$/);
      assert.match(
        questions.join('\n'),
        /^Let claude read the branch main .* It reads: select 'one'\nLet codex read the branch .*br-agent/,
      );
      questions.length = 0;
      assert.equal(asked(), false);
    }
    await run({ ...input, branchId: 'br-agent' });
    assert.deepEqual(questions, []);
    answers.push('Read');
    assert.deepEqual(await run(input), { columns: ['id (text)'], rows: [['1']] });
    await assert.rejects(run({ ...input, sql: `select ${'1'.repeat(500)}` }), /more than 500 characters/);
    assert.equal(questions.length, 1);
  });

  it('says that it has no database, no such branch and no such input', async () => {
    await assert.rejects(run({ ...ids, sql: '', database: 'x' }), /br-main has no database x\./);
    databases = [];
    await assert.rejects(run({ ...ids, sql: '' }), /br-main has no database\. It has: none/);
    await assert.rejects(run({ ...ids, sql: '', branchId: 'br-none' }), /shop has no branch br-none/);
    await assert.rejects(run({ ...ids, sql: '', maxRows: 1001 }), /maxRows must be a whole number/);
    await assert.rejects(run({ ...ids, sql: '', role: 'postgres' }), /Unknown input role/);
    assert.equal(asked(), false);
  });

  it('returns columns with their types, limited rows, and the command of a change', async () => {
    const rows = [
      ['1', 'a'],
      ['2', null],
    ];
    await serve({ columns: ['id', 'name'], rows });
    const columns = ['id (text)', 'name (text)'];
    assert.deepEqual(await run({ ...ids, sql: 'select 1' }), { columns, rows });
    const limited = await run({ ...ids, sql: 'select 1', maxRows: 1 });
    const { note, ...first } = fieldsOf(limited);
    assert.deepEqual(first, { columns, rows: [['1', 'a']], truncated: true });
    assert.match(String(note), /^For the rest, .*OFFSET.* maxRows and maxBytes allow more\.$/);
    const written = await run({ ...ids, branchId: 'br-agent', sql: 'delete', write: true });
    assert.deepEqual(written, { columns, rows, command: 'SELECT 2' });
  });

  it('returns at most what each client shows, unless more is wanted', async () => {
    const rows = Array.from({ length: 900 }, (_, index) => [String(index), 'a"ü'.repeat(20)]);
    await serve({ columns: ['id', 'name'], rows });
    const result = async (more: object) => {
      const output = fieldsOf(await run({ ...ids, sql: 'select 1', maxRows: 1000, ...more }));
      assert.ok(Array.isArray(output['rows']));
      return { size: Buffer.byteLength(JSON.stringify(output)), ...output, rows: output['rows'].length };
    };
    const cut = await result({});
    assert.ok(cut.size > 8000 && cut.size <= MAX_OUTPUT, `${cut.size} bytes, ${cut.rows} rows`);
    assert.equal(fieldsOf(cut)['truncated'], true);
    assert.equal((await result({ maxBytes: 200_000 })).rows, 900);
    const own = { branchId: 'br-agent', sql: 'delete', write: true };
    assert.match(String(fieldsOf(await result(own))['note']), /^The change is complete\./);
  });

  it('cuts the values of a row that is too long', async () => {
    await serve({ columns: ['a', 'b'], rows: [['\u0001'.repeat(500), 'x'.repeat(1000)]] });
    const output = fieldsOf(await run({ ...ids, sql: 'select 1', maxBytes: 2000 }));
    assert.ok(JSON.stringify(output).length <= 2000);
    assert.match(JSON.stringify(output['rows']), /^\[\["(\\u0001)+…","x+…"\]\]$/);
    assert.equal(output['truncated'], true);
  });

  it('reads in a tool that never writes', async () => {
    await serve({ columns: ['id'], rows: [['1']] });
    const read = (more: object) => callTool(deps, 'readSql', { ...ids, sql: 'select 1', ...more });
    assert.deepEqual(await read({}), { columns: ['id (text)'], rows: [['1']] });
    await assert.rejects(read({ write: true }), /Unknown input write/);
  });

  it('keeps the values of a failed statement out of the log and of the stored calls', async () => {
    const detail = 'Failing row contains (1, s3cret).';
    await serve({ error: { S: 'ERROR', C: '23502', M: 'null value in column "b"', D: detail } });
    const logged: unknown[] = [];
    const log = { ...deps.log, error: (...line: unknown[]) => void logged.push(...line) };
    deps = { ...deps, log };
    await assert.rejects(run({ ...ids, sql: 'select 1' }), /Failing row contains \(1, s3cret\)/);
    await until('the call', async () => deps.agentBranches.calls.length > 0);
    const stored = JSON.stringify(deps.agentBranches.calls);
    assert.ok(stored.includes('23502') && !stored.includes('s3cret'), stored);
    assert.ok(!logged.map(String).join().includes('s3cret'), logged.map(String).join());
  });

  it('says why it could not connect, without the password', async () => {
    await assert.rejects(run({ ...ids, sql: 'select 1' }), (error: Error) => {
      assert.match(error.message, /ECONNREFUSED/);
      return !error.message.includes('r3ader');
    });
    assert.equal(asked(), false);
  });
});
