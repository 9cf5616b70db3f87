/** An HTTP proxy like those in companies: it requires a login to open tunnels (CONNECT) and resolves private hosts. */
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

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
  stop(): Promise<void>;
}

export async function startLoginProxy(options: LoginProxyOptions): Promise<LoginProxy> {
  const { user, password, routes } = options;
  const login = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const opened: string[] = [];
  const rejected: string[] = [];
  const sockets = new Set<Duplex>();
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
    for (const each of [socket, upstream]) sockets.add(each);
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    opened,
    rejected,
    async stop() {
      server.close();
      server.closeAllConnections();
      for (const each of sockets) each.destroy();
      await once(server, 'close');
    },
  };
}
