import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { answerSqlRequest } from '../../../../../src/service/postgres/serverlessDriver/answerSqlRequest.ts';
import { readLogin } from '../../../../../src/service/postgres/serverlessDriver/sqlRequest.ts';

describe('POST /sql whose client goes away before the login', () => {
  it('ends, so that the next request gets its session', async () => {
    // Accepts connections and answers nothing, as while a compute starts.
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const login = readLogin({ 'neon-connection-string': 'postgresql://app:x@127.0.0.1/app' });
    const controller = new AbortController();
    const { signal } = controller;
    const run = answerSqlRequest({
      login,
      read: () => assert.fail('no login yet'),
      port: address.port,
      signal,
    });
    const rejected = assert.rejects(run);
    await once(server, 'connection');
    controller.abort();
    await rejected;
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});
