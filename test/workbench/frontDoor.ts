// What the browser talks to: everything goes through to the VS Code server on its socket file, but for the
// one call the bare server does not answer. With the half of a key that `mint-key` hands out the workbench
// seals its SecretStorage in the browser's storage; without it every secret is forgotten on reload.
import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';

export interface FrontDoor {
  readonly port: number;
  close(): Promise<void>;
}

export interface FrontDoorOptions {
  readonly socket: string;
  /** Port wanted on 127.0.0.1; another free one is taken when it is in use. */
  readonly port: number;
  /** The server's connection token; it comes back as a cookie. */
  readonly token: string;
  /** 32 bytes that stay the same as long as the stored secrets are to be read. */
  readonly keyHalf: Buffer;
}

/** Starts listening on 127.0.0.1 only. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const server = http.createServer((request, response) => {
    if (request.method === 'POST' && request.url?.endsWith('/mint-key')) {
      const known = request.headers.cookie?.includes(`vscode-tkn=${options.token}`) ?? false;
      response.writeHead(known ? 200 : 403).end(known ? options.keyHalf : undefined);
      return;
    }
    passOn(options.socket, request, response);
  });
  const tunnels = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    tunnels.add(socket);
    socket.once('close', () => tunnels.delete(socket));
    tunnel(options.socket, request, socket, head);
  });
  const port = await listen(server, options.port).catch(() => listen(server, 0));
  return {
    port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      for (const each of tunnels) each.destroy();
      await closed;
    },
  };
}

async function listen(server: http.Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The front door has no port');
  return address.port;
}

function passOn(socketPath: string, request: http.IncomingMessage, response: http.ServerResponse): void {
  const { method, url: path, headers } = request;
  const onward = http.request({ socketPath, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.once('error', () => response.destroy());
  response.once('close', () => onward.destroy());
  request.pipe(onward);
}

function tunnel(socketPath: string, request: http.IncomingMessage, socket: Duplex, head: Buffer): void {
  const onward = net.connect(socketPath);
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
  }
  onward.write(`${lines.join('\r\n')}\r\n\r\n`);
  onward.write(head);
  onward.pipe(socket).pipe(onward);
  for (const [one, other] of [
    [socket, onward],
    [onward, socket],
  ]) {
    one?.once('error', () => other?.destroy());
    one?.once('close', () => other?.destroy());
  }
}
