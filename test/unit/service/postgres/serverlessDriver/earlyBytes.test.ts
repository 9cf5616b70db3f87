import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { EarlyBytes } from '../../../../../src/service/postgres/serverlessDriver/earlyBytes.ts';

const MEGABYTES = 1024 * 1024;

/** WebSockets that haven't logged in, and a function that lets one of them send. */
function openSockets(count: number) {
  const bytes = new EarlyBytes();
  const sockets = Array.from({ length: count }, () => new PassThrough());
  for (const socket of sockets) bytes.count(socket);
  return {
    sockets,
    send: (index: number, megabytes: number) =>
      sockets[index]?.emit('data', Buffer.alloc(megabytes * MEGABYTES)),
    disconnected: () => sockets.flatMap(({ destroyed }, index) => (destroyed ? [index] : [])),
  };
}

describe('The bytes before the login', () => {
  it('disconnect the WebSocket that has sent most when all together are too many', () => {
    const { send, disconnected } = openSockets(3);
    send(0, 20);
    send(1, 25);
    assert.deepEqual(disconnected(), []);
    send(2, 20);
    assert.deepEqual(disconnected(), [1]);
  });

  it('disconnect no other while that one closes', async () => {
    const { sockets, send, disconnected } = openSockets(3);
    send(0, 25);
    send(1, 20);
    send(2, 20);
    send(1, 6);
    assert.deepEqual(disconnected(), [0]);
    if (sockets[0]?.closed === false) await once(sockets[0], 'close');
    // The bytes of a closed one are subtracted once.
    send(2, 18);
    assert.deepEqual(disconnected(), [0]);
    send(2, 1);
    assert.deepEqual(disconnected(), [0, 2]);
  });
});
