import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { mock } from 'node:test';
import type { BranchLogin } from '../../../../src/model/agents/branchLogin.ts';
import { runSql } from '../../../../src/model/agents/runSql.ts';
import type { SqlRequest } from '../../../../src/model/agents/sqlStatement.ts';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { until } from '../../../workbench/until.ts';

/** What the server replies to a statement: rows of texts, an error by its fields, or nothing. */
type Reply =
  | { readonly columns: readonly string[]; readonly rows: readonly (readonly (string | null)[])[] }
  | { readonly error: Readonly<Record<string, string>> }
  | undefined;

const message = (type: string, ...parts: readonly (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};
const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}
const READY = message('Z', 'I');
const CANCEL_REQUEST = 80_877_102;
const PROCESS = 1234;
const SECRET = 5678;

const describeRows = (columns: readonly string[]): Buffer =>
  message(
    'T',
    int16(columns.length),
    ...columns.flatMap((name) => [
      `${name}\0`,
      int32(0),
      int16(0),
      int32(25),
      int16(-1 & 0xffff),
      int32(-1),
      int16(0),
    ]),
  );
const dataRow = (row: readonly (string | null)[]): Buffer =>
  message(
    'D',
    int16(row.length),
    ...row.flatMap((value) =>
      value === null ? [int32(-1)] : [int32(Buffer.byteLength(value)), Buffer.from(value)],
    ),
  );
const errorMessage = (fields: Readonly<Record<string, string>>): Buffer =>
  message('E', ...Object.entries(fields).map(([field, value]) => `${field}${value}\0`), '\0');

/** The protocol of Postgres without a database. */
class Conversation {
  readonly #socket: Socket;
  readonly #replyTo: (sql: string) => Reply;
  #received = Buffer.alloc(0);
  #hasStarted = false;
  #reply: Reply;
  readonly #texts: string[];
  readonly #limits: number[];
  readonly #onCancel: (ids: readonly number[]) => void;

  constructor(
    socket: Socket,
    replyTo: (sql: string) => Reply,
    { texts, limits }: { readonly texts: string[]; readonly limits: number[] },
    onCancel: (ids: readonly number[]) => void,
  ) {
    this.#socket = socket;
    this.#replyTo = replyTo;
    this.#texts = texts;
    this.#limits = limits;
    this.#onCancel = onCancel;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      while (this.#readOne());
    });
  }

  endStatement(): void {
    if (this.#hasStarted) this.#send(errorMessage({ S: 'ERROR', C: '57014', M: 'canceled' }));
  }

  #readOne(): boolean {
    const lead = this.#hasStarted ? 1 : 0;
    if (this.#received.length < lead + 4) return false;
    const end = lead + this.#received.readInt32BE(lead);
    if (this.#received.length < end) return false;
    const type = this.#received.toString('latin1', 0, lead);
    const body = this.#received.subarray(lead + 4, end);
    this.#received = this.#received.subarray(end);
    this.#answer(type, body);
    return true;
  }

  #answer(type: string, body: Buffer): void {
    switch (type) {
      case '':
        if (body.readInt32BE(0) === CANCEL_REQUEST) {
          this.#onCancel([body.readInt32BE(4), body.readInt32BE(8)]);
          return void this.#socket.destroy();
        }
        this.#hasStarted = true;
        return this.#send(message('R', int32(0)), message('K', int32(PROCESS), int32(SECRET)), READY);
      case 'Q':
        this.#texts.push(body.toString('utf8', 0, body.length - 1));
        return this.#send(message('C', 'SELECT 1\0'), READY);
      case 'P': {
        const sql = body.toString('utf8', 1, body.indexOf(0, 1));
        this.#texts.push(sql);
        this.#reply = sql.includes('format_type')
          ? { columns: ['format_type'], rows: [['text'], ['text']] }
          : this.#replyTo(sql);
        const reply = this.#reply;
        const hasFailed = reply !== undefined && 'error' in reply;
        return this.#send(hasFailed ? errorMessage(reply.error) : message('1'));
      }
      case 'D':
        if (this.#reply !== undefined && 'columns' in this.#reply)
          this.#send(message('t', int16(0)), describeRows(this.#reply.columns));
        return;
      case 'B':
        return this.#send(message('2'));
      case 'E': {
        this.#limits.push(body.readInt32BE(1));
        const rows = this.#reply !== undefined && 'rows' in this.#reply ? this.#reply.rows : [];
        return this.#send(...rows.map(dataRow), message('C', `SELECT ${rows.length}\0`));
      }
      case 'S':
        return this.#send(READY);
      case 'X':
        return void this.#socket.end();
    }
  }

  #send(...messages: readonly Buffer[]): void {
    this.#socket.write(Buffer.concat(messages));
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  atEndOfTest(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

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
    const sockets = new Set<Socket>();
    const conversations = new Set<Conversation>();
    const onCancel = (ids: readonly number[]) => {
      if (cancels.push(ids) > ignoredCancels) for (const each of conversations) each.endStatement();
    };
    const server = createServer((socket) => {
      sockets.add(socket);
      conversations.add(new Conversation(socket, () => reply, { texts, limits }, onCancel));
    });
    const host = await listen(server);
    atEndOfTest(() => sockets.forEach((socket) => socket.destroy()));
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
    assert.equal(texts[1], 'select a, b');
  });

  it('asks for no types of a result without columns', async () => {
    reply = { columns: [], rows: [] };
    assert.deepEqual((await run('select')).columns, []);
    assert.equal(texts.length, 2);
  });

  it('sends no password to a program that asks for it without SCRAM', async () => {
    for (const request of [message('R', int32(3)), message('R', int32(5), 'salt')]) {
      const received: Buffer[] = [];
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => {
          if (received.push(chunk) === 1) socket.write(request);
        });
      });
      login = { ...login, host: await listen(server) };
      await assert.rejects(run('select 1'), /asked for the password without SCRAM/);
      await new Promise((resolve) => void server.close(resolve));
      assert.equal(received.length, 1);
    }
  });

  it('begins a read-only transaction with limits that end with it, and none for a change', async () => {
    await run('select 1');
    const [reads = ''] = texts;
    assert.equal(limits[0], 11);
    assert.match(reads, /^BEGIN READ ONLY; SELECT /);
    assert.match(reads, /set_config\('statement_timeout', '15s', true\)/);
    assert.match(reads, /set_config\('lock_timeout', '5s', true\)/);
    texts.length = 0;
    limits.length = 0;
    await run('select 1', { write: true });
    assert.equal(limits[0], 0);
    const [writes = ''] = texts;
    assert.match(writes, /^SELECT .*set_config\('statement_timeout', '60s', false\)/);
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

  it('rejects effects that a rollback leaves, without a connection', async () => {
    for (const sql of [
      'select pg_terminate_backend(1)',
      'select "set_config" (1)',
      'select lo_import/**/(1)',
      'select U&\'\' \n, U&"x"',
    ])
      await assert.rejects(run(sql), /is not allowed in a read-only statement/);
    await assert.rejects(run('select 1\0'), /NUL/);
    assert.deepEqual(texts, []);
    await run('select pg_terminate_backend(1)', { write: true });
    await run("select 'pg_terminate_backend'");
    assert.equal(texts.length, 6);
  });

  it('cancels the statement of its session until it has ended', async () => {
    reply = undefined;
    const controller = new AbortController();
    const canceled = assert.rejects(run('select pg_sleep(9)', {}, controller.signal), {
      message: 'Canceled.',
    });
    await until('the statement', async () => texts.length === 2);
    controller.abort();
    await canceled;
    assert.deepEqual(cancels.slice(0, 2), [
      [PROCESS, SECRET],
      [PROCESS, SECRET],
    ]);
    await assert.rejects(run('select 1', {}, AbortSignal.abort()), { message: 'Canceled.' });
    assert.equal(texts.length, 2);
  });

  it('ends the connection if twenty cancels do not end the statement', async () => {
    reply = undefined;
    ignoredCancels = Infinity;
    const controller = new AbortController();
    let hasEnded = false;
    const canceled = assert.rejects(run('select pg_sleep(9)', {}, controller.signal)).finally(() => {
      hasEnded = true;
    });
    await until('the statement', async () => texts.length === 2);
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
