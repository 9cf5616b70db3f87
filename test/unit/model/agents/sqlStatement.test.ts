import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Connection } from 'pg';
import { Statement } from '../../../../src/model/agents/sqlStatement.ts';

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
  for (const [onlyReads, what] of [
    [true, /larger than 16 MB\. Select/],
    [false, /larger than 16 MB\. Check whether the change was made\./],
  ] as const)
    it(`reports a result that passes 16 MB with its last chunk${onlyReads ? '' : ', of a change'}`, async () => {
      const statement = new Statement({ sql: '', onlyReads, maxRows: 1 });
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

  it('may have 16 MB', async () => {
    const statement = new Statement({ sql: '', onlyReads: true, maxRows: 1 });
    const { connection, stream } = connect(() => statement.handleReadyForQuery());
    statement.submit(connection);
    stream.emit('data', Buffer.alloc(16 * MEGABYTES));
    assert.deepEqual((await statement.result).rows, []);
    assert.ok(!stream.destroyed);
  });
});
