/** Timers: extension/connection/sqlSession.ts. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { mock } from 'node:test';
import type { BranchLogin } from '../../../../src/extension/connection/sqlSession.ts';
import { runSql } from '../../../../src/extension/agents/runSql.ts';
import type { SqlRequest } from '../../../../src/extension/database/sql/sqlStatement.ts';
import {
  Conversation,
  int32,
  message,
  PROCESS,
  SECRET,
  type Reply,
} from '../../../helpers/postgresConversation.ts';
import { until } from '../../../workbench/until.ts';
import { listen } from '../../../helpers/listen.ts';

describe('SQL of agents', () => {
  const never = new AbortController().signal;
  let reply: Reply;
  let texts: string[];
  /** The rows that Postgres may return. */
  let limits: number[];
  let cancels: (readonly number[])[];
  /** As by Postgres if they arrive before the statement. */
  let ignoredCancels: number;
  let login: BranchLogin;
  const run = (sql: string, more: Partial<SqlRequest> = {}, signal = never) =>
    runSql(login, { sql, write: false, maxRows: 10, ...more }, signal);

  beforeEach(async () => {
    reply = { columns: ['a', 'b'], rows: [['1', null]] };
    [texts, limits, cancels, ignoredCancels] = [[], [], [], 1];
    const conversations = new Set<Conversation>();
    const onCancel = (ids: readonly number[]) => {
      if (cancels.push(ids) > ignoredCancels) for (const each of conversations) each.endStatement();
    };
    const server = createServer((socket) => {
      conversations.add(new Conversation(socket, () => reply, { texts, limits }, onCancel));
    });
    const host = `127.0.0.1:${await listen(server)}`;
    login = { host, role: 'app', password: 'secret', database: 'shop' };
  });

  it('returns rows and columns with their types', async () => {
    assert.deepEqual(await run('select a, b'), {
      columns: [
        { name: 'a', type: 'text' },
        { name: 'b', type: 'text' },
      ],
      rows: [['1', null]],
      truncated: false,
      command: 'SELECT 1',
    });
    assert.deepEqual(texts.slice(1, 4), [
      'SET search_path TO DEFAULT',
      'select a, b',
      'SET search_path TO pg_catalog',
    ]);
  });

  it('asks for no types of a result without columns', async () => {
    reply = { columns: [], rows: [] };
    assert.deepEqual((await run('select')).columns, []);
    assert.equal(texts.at(-1), 'select');
  });

  it('sends no password to a program that asks for it without SCRAM', async () => {
    for (const request of [message('R', int32(3)), message('R', int32(5), 'salt')]) {
      const received: Buffer[] = [];
      const server = createServer((socket) => {
        socket.on('data', (chunk) => {
          if (received.push(chunk) === 1) socket.write(request);
        });
      });
      login = { ...login, host: `127.0.0.1:${await listen(server)}` };
      await assert.rejects(run('select 1'), /asked for the password without SCRAM/);
      await new Promise((resolve) => void server.close(resolve));
      assert.equal(received.length, 1);
    }
  });

  it('begins a read-only transaction with limits that end with it, and none for a change', async () => {
    await run('select 1');
    const [reads = ''] = texts;
    assert.equal(limits[0], 11);
    assert.match(reads, /^BEGIN READ ONLY; SET search_path TO pg_catalog; SELECT /);
    assert.match(reads, /set_config\('statement_timeout', '15s', true\)/);
    assert.match(reads, /set_config\('lock_timeout', '5s', true\)/);
    texts.length = 0;
    limits.length = 0;
    await run('select 1', { write: true });
    assert.equal(limits[0], 0);
    const [writes = ''] = texts;
    assert.match(
      writes,
      /^SET search_path TO pg_catalog; SELECT .*set_config\('statement_timeout', '60s', false\)/,
    );
    assert.match(writes, /'datestyle', 'ISO, YMD', false\).*'bytea_output', 'hex', false\)/);
  });

  it('says all that Postgres says about an error', async () => {
    const error = { S: 'ERROR', C: '42703', M: 'no column', D: 'Some detail.', H: 'Another name?', P: '8' };
    for (const [left, expected] of [
      [error, 'no column (42703, at character 8) Detail: Some detail. Hint: Another name?'],
      [{ S: 'ERROR', C: '22012', M: 'division by zero' }, 'division by zero (22012)'],
      [{ S: 'ERROR', M: 'no code' }, 'no code'],
      [{ S: 'ERROR', C: '22012', M: 'x'.repeat(3000) }, 'x'.repeat(2000)],
    ] as const) {
      reply = { error: left };
      await assert.rejects(run('select 1'), { message: expected });
    }
  });

  it('rejects a NUL character without a connection', async () => {
    await assert.rejects(run('select 1\0'), /NUL/);
    assert.deepEqual(texts, []);
  });

  it('cancels the statement of its session until it has ended', async () => {
    reply = undefined;
    const controller = new AbortController();
    const canceled = assert.rejects(run('select pg_sleep(9)', {}, controller.signal), {
      message: 'Canceled.',
    });
    await until('the statement', async () => texts.at(-1) === 'select pg_sleep(9)');
    controller.abort();
    await canceled;
    assert.deepEqual(cancels.slice(0, 2), [
      [PROCESS, SECRET],
      [PROCESS, SECRET],
    ]);
    await assert.rejects(run('select 1', {}, AbortSignal.abort()), { message: 'Canceled.' });
    assert.ok(!texts.includes('select 1'));
  });

  it('ends the connection if twenty cancels do not end the statement', async () => {
    reply = undefined;
    ignoredCancels = Infinity;
    const controller = new AbortController();
    let hasEnded = false;
    const canceled = assert.rejects(run('select pg_sleep(9)', {}, controller.signal)).finally(() => {
      hasEnded = true;
    });
    await until('the statement', async () => texts.at(-1) === 'select pg_sleep(9)');
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      controller.abort();
      while (!hasEnded) {
        await new Promise((resolve) => setImmediate(resolve));
        mock.timers.tick(200);
      }
    } finally {
      mock.timers.reset();
    }
    await canceled;
    assert.equal(cancels.length, 20);
  });
});
