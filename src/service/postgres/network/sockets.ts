/** Connections of the gateway to servers, and between servers and clients. */
import net from 'node:net';

export function connectToServer(address: net.NetConnectOpts): net.Socket {
  const server = net.connect({ ...address, noDelay: true, allowHalfOpen: true });
  // If the caller adds TLS, nothing else listens for the errors of this socket.
  return server.on('error', () => server.destroy());
}

/** Sends a packet. Resolves when the server has sent something, which is still unread. @throws if it closes the connection */
export async function sendAndAwaitAnswer(server: net.Socket, packet: Buffer): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('Postgres closed the connection'));
    server.once('close', fail).once('error', reject);
    server.once('data', (answer: Buffer) => {
      server.off('close', fail).off('error', reject).pause();
      server.unshift(answer);
      resolve(server);
    });
    server.once('end', () => server.destroy());
    server.write(packet);
  });
}

/**
 * Connects two sockets until the server closes the connection. Its last bytes still reach the client. When the client has gone, the
 * server gets the end of its input.
 */
export function pipeBothWays(client: net.Socket, server: net.Socket): void {
  server.on('error', () => server.destroy());
  server.once('close', () => client.destroySoon());
  client.pipe(server);
  server.pipe(client);
  client.once('close', () => server.unpipe(client).resume().end());
}
