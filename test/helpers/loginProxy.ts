/** An HTTP proxy like those in companies: it requires a login to open tunnels (CONNECT) and resolves private hosts. */
import http from 'node:http';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from './listen.ts';

interface LoginProxyOptions {
  readonly user: string;
  readonly password: string;
  /** The loopback port for each `host:port`. */
  readonly routes: Readonly<Record<string, number>>;
}

export interface LoginProxy {
  readonly port: number;
  /** The `host:port` of each opened tunnel. */
  readonly opened: string[];
  /** The `host:port` of each request without the login. */
  readonly rejected: string[];
}

/** It stops with the test. */
export async function startLoginProxy(options: LoginProxyOptions): Promise<LoginProxy> {
  const { user, password, routes } = options;
  const login = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const opened: string[] = [];
  const rejected: string[] = [];
  const server = http.createServer((_, response) => void response.writeHead(405).end());
  server.on('connect', (request, socket: Duplex) => {
    const target = request.url ?? '';
    const port = routes[target];
    socket.on('error', () => undefined);
    if (request.headers['proxy-authorization'] !== login) {
      rejected.push(target);
      socket.end(
        'HTTP/1.1 407 Login\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n',
      );
      return;
    }
    if (port === undefined) return void socket.end('HTTP/1.1 502 Unknown\r\nContent-Length: 0\r\n\r\n');
    opened.push(target);
    const upstream = net.connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  return { port: await listen(server), opened, rejected };
}
