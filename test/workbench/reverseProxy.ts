// The server that the browser talks to. It forwards everything to the VS Code server's socket, except `mint-key`, which
// that server does not implement. The workbench needs the half of a key that `mint-key` returns to encrypt its
// SecretStorage in the browser. Without it, every secret is lost on reload.
import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';

export interface ReverseProxy {
  readonly port: number;
  close(): Promise<void>;
}

export interface ReverseProxyOptions {
  readonly socket: string;
  /** Preferred port on 127.0.0.1. If it is in use, another free port is taken. */
  readonly port: number;
  /** The server's connection token. The browser sends it back as a cookie. */
  readonly token: string;
  /** 32 bytes. Stored secrets can be read only as long as they stay the same. */
  readonly keyHalf: Buffer;
}

/** Starts listening on 127.0.0.1 only. */
export async function startReverseProxy(options: ReverseProxyOptions): Promise<ReverseProxy> {
  const server = http.createServer((request, response) => {
    if (request.method === 'POST' && request.url?.endsWith('/mint-key')) {
      const authorized = request.headers.cookie?.includes(`vscode-tkn=${options.token}`) ?? false;
      response.writeHead(authorized ? 200 : 403).end(authorized ? options.keyHalf : undefined);
      return;
    }
    forward(options.socket, request, response);
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
  if (address === null || typeof address === 'string') throw new Error('The reverse proxy has no port');
  return address.port;
}

function forward(socketPath: string, request: http.IncomingMessage, response: http.ServerResponse): void {
  const { method, url: path, headers } = request;
  const upstream = http.request({ socketPath, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.once('error', () => response.destroy());
  response.once('close', () => upstream.destroy());
  request.pipe(upstream);
}

function tunnel(socketPath: string, request: http.IncomingMessage, socket: Duplex, head: Buffer): void {
  const upstream = net.connect(socketPath);
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
  }
  upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
  upstream.write(head);
  upstream.pipe(socket).pipe(upstream);
  // An error is followed by the end of its stream.
  socket.on('error', () => undefined).once('close', () => upstream.destroy());
  upstream.on('error', () => undefined).once('close', () => socket.destroy());
}
