import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import type { ServerDependencies } from '../../../../../src/service/postgres/branchData/branchData.ts';
import { setRolePasswords } from '../../../../../src/service/postgres/copies/recoverTo.ts';
import { Conversation } from '../../../../helpers/postgresConversation.ts';
import { listen } from '../../../../helpers/listen.ts';

describe('setRolePasswords', () => {
  it('ends its connection also if Postgres refuses a password', async () => {
    const refusal = { error: { S: 'ERROR', C: '42501', M: 'permission denied' } };
    const sockets: Socket[] = [];
    const server = net.createServer((socket) => {
      sockets.push(socket);
      new Conversation(socket, () => refusal);
    });
    const deps = { binaries: { major: 18 }, logins: { superuser: 'x' } } as unknown as ServerDependencies;
    const address = { host: '127.0.0.1', port: await listen(server) };
    await assert.rejects(setRolePasswords(deps, { address }, new Map([['app', 'x']])), /permission denied/);
    const [socket] = sockets;
    assert.equal(sockets.length, 1);
    // The other side may get to know it later.
    if (socket?.closed === false) await once(socket, 'close');
  });
});
