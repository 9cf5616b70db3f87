import assert from 'node:assert/strict';
import { askUnlessOver, ServerProcess } from '../../../../../src/service/postgres/server/serverProcess.ts';

const start = (script: string) =>
  new ServerProcess({
    program: process.execPath,
    args: ['-e', script],
    address: { host: '127.0.0.1', port: 1 },
    onLine: () => undefined,
    readyLine: /^ready$/,
    stopSteps: [['SIGKILL', 10_000]],
  });

describe('A server', () => {
  it('is over once it is being stopped', async () => {
    const server = start('setInterval(() => {}, 1000)');
    assert(!server.isOver);
    const stopped = server.stop();
    assert(server.isOver);
    await stopped;
  });

  it('is over once it has ended by itself', async () => {
    const server = start('');
    assert(!server.isOver);
    await server.ended;
    assert(server.isOver && !server.isStopping);
  });

  it('need not answer if it is over, and otherwise must', async () => {
    const server = { isOver: false };
    const fail = async () => {
      throw new Error('refused');
    };
    assert.equal(await askUnlessOver(server, async () => 1), 1);
    await assert.rejects(askUnlessOver(server, fail), /refused/);
    server.isOver = true;
    assert.equal(await askUnlessOver(server, fail), undefined);
  });
});
