import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { atEndOfTest } from './atEndOfTest.ts';

/** Listens on a free port of loopback until the end of the test, which also ends the connections. @returns the port */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined).once('close', () => sockets.delete(socket)));
  });
  atEndOfTest(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
