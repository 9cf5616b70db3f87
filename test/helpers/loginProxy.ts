/** An HTTP proxy as companies have them: it tunnels (CONNECT) for whoever logs in, and knows hosts that nobody else does. */
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface LoginProxyOptions {
  readonly user: string;
  readonly password: string;
  /** The loopback port behind each `host:port` that it leads to. */
  readonly leadsTo: Readonly<Record<string, number>>;
}

export interface LoginProxy {
  readonly port: number;
  /** Hosts and ports that were tunnelled to. */
  readonly opened: string[];
  /** Those that were refused for want of the login. */
  readonly refused: string[];
  stop(): Promise<void>;
}

export async function startLoginProxy(options: LoginProxyOptions): Promise<LoginProxy> {
  const { user, password, leadsTo } = options;
  const login = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const opened: string[] = [];
  const refused: string[] = [];
  const sockets = new Set<Duplex>();
  const server = http.createServer((_, response) => void response.writeHead(405).end());
  server.on('connect', (request, socket: Duplex) => {
    const target = request.url ?? '';
    const port = leadsTo[target];
    socket.on('error', () => undefined);
    if (request.headers['proxy-authorization'] !== login) {
      refused.push(target);
      socket.end(
        'HTTP/1.1 407 Login\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n',
      );
      return;
    }
    if (port === undefined) return void socket.end('HTTP/1.1 502 Unknown\r\nContent-Length: 0\r\n\r\n');
    opened.push(target);
    const onward = net.connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const each of [socket, onward]) sockets.add(each);
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    opened,
    refused,
    async stop() {
      server.close();
      server.closeAllConnections();
      for (const each of sockets) each.destroy();
      await once(server, 'close');
    },
  };
}
