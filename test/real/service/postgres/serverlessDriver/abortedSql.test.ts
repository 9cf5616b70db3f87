import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { answerSqlRequest } from '../../../../../src/service/postgres/serverlessDriver/answerSqlRequest.ts';
import { readLogin } from '../../../../../src/service/postgres/serverlessDriver/sqlRequest.ts';
import { listen } from '../../../../helpers/listen.ts';

describe('POST /sql whose client goes away before the login', () => {
  it('ends, so that the next request gets its session', async () => {
    // Accepts connections and answers nothing, as while a compute starts.
    const server = net.createServer();
    const port = await listen(server);
    const login = readLogin({ 'neon-connection-string': 'postgresql://app:x@127.0.0.1/app' });
    const controller = new AbortController();
    const { signal } = controller;
    const run = answerSqlRequest({
      login,
      read: () => assert.fail('no login yet'),
      port,
      signal,
    });
    const rejected = assert.rejects(run);
    await once(server, 'connection');
    controller.abort();
    await rejected;
  });
});
