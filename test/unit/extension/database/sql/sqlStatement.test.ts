import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Connection } from 'pg';
import { Statement } from '../../../../../src/extension/database/sql/sqlStatement.ts';

const MEGABYTES = 1024 * 1024;

/** A connection whose chunks reach the parser first, as in the package: its listener is older than the statement's. */
function connect(onChunk: () => void): { readonly connection: Connection; readonly stream: PassThrough } {
  const stream = new PassThrough();
  stream.on('data', onChunk);
  const calls = { parse() {}, describe() {}, flush() {}, bind() {}, execute() {}, sync() {} };
  const connection = Object.assign(new EventEmitter(), calls, { stream });
  return { connection: connection as unknown as Connection, stream };
}

describe('A statement', () => {
  for (const [write, what] of [
    [false, /larger than 16 MB\. Select/],
    [true, /larger than 16 MB\. Check whether the change was made\./],
  ] as const)
    it(`reports a result that passes 16 MB with its last chunk${write ? ', of a change' : ''}`, async () => {
      const statement = new Statement({ sql: '', write, maxRows: 1 });
      let isLast = false;
      const { connection, stream } = connect(() => {
        if (isLast) statement.handleReadyForQuery();
      });
      statement.submit(connection);
      stream.emit('data', Buffer.alloc(16 * MEGABYTES));
      isLast = true;
      stream.emit('data', Buffer.alloc(1));
      await assert.rejects(statement.result, what);
      assert.ok(stream.destroyed);
    });

  it('stops reading after one row more than wanted, and never stops a change', () => {
    for (const [write, rows] of [
      [false, 11],
      [true, 0],
    ] as const) {
      const executed: unknown[] = [];
      const { connection } = connect(() => undefined);
      const statement = new Statement({ sql: '', write, maxRows: 10 });
      statement.submit(Object.assign(connection, { execute: (asked: unknown) => void executed.push(asked) }));
      statement.handleRowDescription({ fields: [] });
      assert.deepEqual(executed, [{ portal: '', rows }]);
    }
  });

  it('has 4,000 characters of a value, 60,000 of all, and says what is missing', async () => {
    const statement = new Statement({ sql: '', write: false, maxRows: 100 });
    for (let row = 0; row < 15; row += 1) statement.handleDataRow({ fields: ['x'.repeat(3999), null] });
    statement.handleDataRow({ fields: ['y'.repeat(14), null] });
    statement.handleDataRow({ fields: ['y', 'z', null] });
    statement.handleDataRow({ fields: ['more'] });
    statement.handleReadyForQuery();
    const { rows, truncated } = await statement.result;
    assert.deepEqual(rows.slice(14), [
      ['x'.repeat(3999), null],
      ['y'.repeat(14), null],
      ['y', '… (1 characters)', null],
    ]);
    assert.equal(truncated, true);
    const long = new Statement({ sql: '', write: false, maxRows: 1 });
    long.handleDataRow({ fields: ['x'.repeat(4001), 'y'.repeat(4000)] });
    long.handleReadyForQuery();
    const cut = await long.result;
    assert.deepEqual(cut.rows, [[`${'x'.repeat(4000)}… (4001 characters)`, 'y'.repeat(4000)]]);
    assert.equal(cut.truncated, true);
  });

  it('is incomplete if Postgres stopped it', async () => {
    const statement = new Statement({ sql: '', write: false, maxRows: 1 });
    statement.handlePortalSuspended();
    statement.handleReadyForQuery();
    const { truncated, command } = await statement.result;
    assert.deepEqual([truncated, command], [true, undefined]);
  });

  describe('that is submitted', () => {
    let calls: string[];
    const submit = (write: boolean) => {
      calls = [];
      const { connection, stream } = connect(() => undefined);
      const recorded = ['bind', 'execute', 'sync', 'sendCopyFail'].map((name) => [
        name,
        () => void calls.push(name),
      ]);
      Object.assign(connection, Object.fromEntries(recorded));
      const described: unknown[] = [];
      Object.assign(connection, { describe: (what: unknown) => void described.push(what) });
      const statement = new Statement({ sql: '', write, maxRows: 1 });
      statement.submit(connection);
      assert.deepEqual(described, [{ type: 'S', name: '' }]);
      return { statement, connection, stream };
    };

    it('runs without rows only if it may write', async () => {
      const change = submit(true);
      change.connection.emit('noData');
      assert.deepEqual(calls, ['bind', 'execute', 'sync']);
      const read = submit(false);
      read.connection.emit('noData');
      assert.deepEqual(calls, ['sync']);
      read.statement.handleReadyForQuery();
      await assert.rejects(read.statement.result, /must return rows. Nothing was run./);
    });

    it('ends with the first error, after exactly one Sync', async () => {
      const parsed = submit(false);
      parsed.statement.handleError(new Error('first'));
      assert.deepEqual(calls, ['sync']);
      parsed.statement.handleError(new Error('second'));
      await assert.rejects(parsed.statement.result, { message: 'first' });
      const executed = submit(false);
      executed.statement.handleRowDescription({ fields: [] });
      executed.statement.handleError(new Error('late'));
      assert.deepEqual(calls, ['bind', 'execute', 'sync']);
      await assert.rejects(executed.statement.result, { message: 'late' });
    });

    it('rejects COPY and an empty text', async () => {
      const { statement, connection } = submit(true);
      statement.handleCopyInResponse(connection);
      assert.deepEqual(calls, ['sendCopyFail', 'sync']);
      for (const [handle, expected] of [
        ['handleCopyData', /COPY TO STDOUT is not supported/],
        ['handleEmptyQuery', /The statement is empty/],
      ] as const) {
        const rejected = submit(true).statement;
        rejected[handle]();
        rejected.handleReadyForQuery();
        await assert.rejects(rejected.result, expected);
      }
    });

    it('listens to its connection only until it has ended', () => {
      const { statement, connection, stream } = submit(true);
      const before = stream.listenerCount('data');
      statement.handleReadyForQuery();
      assert.deepEqual([stream.listenerCount('data'), connection.listenerCount('noData')], [before - 1, 0]);
    });
  });

  it('is whole if it has just as many rows as wanted', async () => {
    const statement = new Statement({ sql: '', write: false, maxRows: 2 });
    for (const value of ['1', '2']) statement.handleDataRow({ fields: [value] });
    statement.handleCommandComplete({ text: 'SELECT 2' });
    statement.handleReadyForQuery();
    assert.deepEqual(await statement.result, {
      fields: [],
      rows: [['1'], ['2']],
      truncated: false,
      command: 'SELECT 2',
    });
  });

  it('may have 16 MB', async () => {
    const statement = new Statement({ sql: '', write: false, maxRows: 1 });
    const { connection, stream } = connect(() => statement.handleReadyForQuery());
    statement.submit(connection);
    stream.emit('data', Buffer.alloc(16 * MEGABYTES));
    assert.deepEqual((await statement.result).rows, []);
    assert.ok(!stream.destroyed);
  });
});
