import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { findClientProcess, parseLsof } from '../../../../src/extension/computes/clientProcess.ts';
import { listen } from '../../../helpers/listen.ts';

const never = new AbortController().signal;

describe('The program of a connection', () => {
  let client: net.Socket;
  before(async () => {
    client = net.connect(await listen(net.createServer()), '127.0.0.1');
    await once(client, 'connect');
  });
  after(() => client.destroy());

  const ports = () => ({ clientPort: client.localPort ?? 0, serverPort: client.remotePort ?? 0 });

  it('is found by the ports of both ends', async function () {
    if (process.platform === 'win32') this.skip();
    const { clientPort, serverPort } = ports();
    const found = await findClientProcess({ clientPort, serverPorts: [1, serverPort] }, never);
    assert.deepEqual(found, { program: 'node', pid: process.pid });
  });

  it('is unknown if one of the ports is another, or the time is over', async () => {
    const { clientPort, serverPort } = ports();
    for (const connection of [
      { clientPort, serverPorts: [] },
      { clientPort, serverPorts: [clientPort] },
      { clientPort: serverPort, serverPorts: [1] },
    ])
      assert.equal(await findClientProcess(connection, never), undefined);
    const own = { clientPort, serverPorts: [serverPort] };
    assert.equal(await findClientProcess(own, AbortSignal.abort()), undefined);
  });

  it('is the one of the client in the output of lsof, which lists both ends', () => {
    const output = [
      'p10',
      'cservice',
      'f20',
      'n127.0.0.1:15432->127.0.0.1:50001',
      'p4711',
      'cPython',
      'f3',
      'n127.0.0.1:50001->127.0.0.1:443',
      'f4',
      'n127.0.0.1:50001->127.0.0.1:15432',
      '',
    ].join('\n');
    const found = (clientPort: number, ...serverPorts: readonly number[]) =>
      parseLsof(output, { clientPort, serverPorts });
    assert.deepEqual(found(50001, 15433, 15432), { program: 'Python', pid: 4711 });
    assert.deepEqual(found(15432, 50001), { program: 'service', pid: 10 });
    assert.equal(found(50001, 80), undefined);
    assert.equal(found(1, 15432), undefined);
  });
});
