/**
 * A compute's address, which listens whether the compute is active or not. It reads the first packet of a connection, wakes
 * the compute, forwards the packet, and from then on forwards bytes both ways without reading them, except for the process id in
 * the server's first answer.
 *
 * Postgres itself does TLS, so that clients can bind their password's proof to the connection (SCRAM with channel binding).
 *
 * HTTP requests are those of the serverless driver.
 *
 * Activity keeps a compute from being suspended: each connection of a client or of PgBouncer, from its first packet until it
 * closes, whether it runs queries or not. A connection without a packet, a cancel request and the replication of a read
 * replica, which bypasses the gateway, are not activity.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { asEngineError, EngineError } from '../../core/computeEngine.ts';
import { systemReason } from '../../core/serviceErrors.ts';
import type { Certificate } from '../server/certificate.ts';
import { errorResponse, readBackendPid, readFirstPacket, type FirstPacket } from './protocol.ts';
import { LOOPBACK, plainSocket, tlsSocket, type ServerAddress } from '../server/serverAddress.ts';

export interface GatewayTarget {
  /** Starts the server if necessary. @returns its address. @throws with a message for the client */
  ensureRunning(): Promise<ServerAddress>;
  /** The server's address, if it runs. */
  running(): ServerAddress | undefined;
  readonly certificate: Certificate;
  /** The number of client connections changed. */
  activity(open: number): void;
  /** Loads what serves HTTP clients, whose first bytes are still unread. It logs in at this address, as other clients do. */
  serveHttp(port: number): Promise<(client: net.Socket) => void>;
}

/** The limit for a client's whole first packet, in milliseconds, like Postgres's `authentication_timeout`. */
const FIRST_PACKET_LIMIT = 60_000;
const ATTEMPTS = 100;
const ATTEMPT_PAUSE = 20;
/** The milliseconds that a client has to read its error before the connection is closed. */
const ERROR_LIMIT = 10_000;
/** The milliseconds that clients have to read the last bytes when the address closes. */
const LAST_BYTES_LIMIT = 1000;
/** A process that is ending may still use the port. Milliseconds. */
const PORT_LIMIT = 1000;
const PORT_PAUSE = 50;
/** Enough for a burst of clients at an idle compute. */
const BACKLOG = 4096;

export class Gateway {
  readonly #server: net.Server;
  readonly #target: GatewayTarget;
  readonly #clients = new Set<net.Socket>();
  /** The ports of clients, by their session: see `sessionKey`. */
  readonly #clientPorts = new Map<string, number>();
  #open = 0;
  #http: Promise<(client: net.Socket) => void> | undefined;

  private constructor(target: GatewayTarget) {
    this.#target = target;
    this.#server = net.createServer({ noDelay: true, allowHalfOpen: true }, (client) => this.#accept(client));
  }

  /** @throws {EngineError} if another program uses the port */
  static async listen(port: number, target: GatewayTarget): Promise<Gateway> {
    const gateway = new Gateway(target);
    for (const until = performance.now() + PORT_LIMIT; ;) {
      gateway.#server.listen({ port, host: LOOPBACK, backlog: BACKLOG });
      try {
        await once(gateway.#server, 'listening');
        break;
      } catch (error) {
        if (!isTaken(error) || performance.now() > until) throw portProblem(port, error);
      }
      await sleep(PORT_PAUSE);
    }
    // After `listening`, an error means that accept() failed, for example without a free file descriptor. The next accept
    // may succeed.
    gateway.#server.on('error', () => {});
    return gateway;
  }

  get openConnections(): number {
    return this.#open;
  }

  /** The port from which the client of a session has connected; undefined if that was not to this address. */
  clientPort(session: { readonly pid: number; readonly port: number }): number | undefined {
    return this.#clientPorts.get(sessionKey(session));
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const client of this.#clients) client.destroySoon();
    // Some clients never read what was sent to them: a pager waits for a key, or the process is stopped.
    const timer = setTimeout(() => this.#clients.forEach((client) => client.destroy()), LAST_BYTES_LIMIT);
    await closed;
    clearTimeout(timer);
  }

  #accept(client: net.Socket): void {
    this.#clients.add(client);
    const late = setTimeout(() => client.destroy(), FIRST_PACKET_LIMIT);
    client.once('close', () => {
      clearTimeout(late);
      this.#clients.delete(client);
    });
    client.on('error', () => client.destroy());
    let received: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const kind = readFirstPacket(received);
      if (kind === undefined) return;
      if (kind === 'gssenc') {
        client.write('N');
        received = Buffer.alloc(0);
        return;
      }
      clearTimeout(late);
      client.off('data', read).pause();
      if (kind === 'invalid') client.destroy();
      else if (kind === 'http') this.#serveHttp(client, received).catch(() => client.destroy());
      else if (kind === 'cancel') this.#cancel(client, received);
      else void this.#serve(client, { kind, bytes: received });
    };
    client.on('data', read);
    client.once('end', () => {
      if (client.listeners('data').includes(read)) client.destroy();
    });
  }

  /** Loaded by the first HTTP client, because most computes have none. */
  async #serveHttp(client: net.Socket, received: Buffer): Promise<void> {
    client.unshift(received);
    const { port } = this.#server.address() as net.AddressInfo;
    this.#http ??= this.#target.serveHttp(port);
    (await this.#http)(client);
  }

  /** A cancel request contains the key of one backend. A server that does not know the key ignores it. */
  #cancel(client: net.Socket, packet: Buffer): void {
    const address = this.#target.running();
    if (address === undefined) client.destroy();
    else pipeBothWays(client, connectTo(plainSocket(address), packet));
  }

  async #serve(client: net.Socket, packet: Packet): Promise<void> {
    this.#target.activity((this.#open += 1));
    client.once('close', () => this.#target.activity((this.#open -= 1)));
    try {
      const server = await this.#forward(client, packet);
      if (client.destroyed) server.destroy();
      else {
        pipeBothWays(client, server);
        this.#rememberPort(client, server);
      }
    } catch (error) {
      client.setTimeout(ERROR_LIMIT, () => client.destroy());
      const response = errorResponse(error instanceof Error ? error.message : String(error));
      if (packet.kind === 'startup') client.end(response).resume();
      else await this.#endSecurely(client, packet, response).catch(() => client.destroy());
    }
  }

  /** Postgres knows the gateway's end of a connection only, and nothing of it on a Unix socket. */
  #rememberPort(client: net.Socket, server: net.Socket): void {
    const { remotePort } = client;
    const remember = (session: { readonly pid: number; readonly port: number }) => {
      if (remotePort === undefined || client.destroyed) return;
      const key = sessionKey(session);
      this.#clientPorts.set(key, remotePort);
      client.once('close', () => this.#clientPorts.delete(key));
    };
    if (server.localPort !== undefined) remember({ pid: 0, port: server.localPort });
    else findPid(server, (pid) => remember({ pid, port: 0 }));
  }

  /** Clients that want TLS show only an error that arrives through it, as the answer to their start-up packet. */
  async #endSecurely(client: net.Socket, packet: Packet, response: Buffer): Promise<void> {
    const { certFile, keyFile } = this.#target.certificate;
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    // TLS is loaded when it is needed, because loading it takes 9 ms.
    const { TLSSocket } = process.getBuiltinModule('node:tls');
    if (packet.kind === 'ssl') client.write('S');
    else client.unshift(packet.bytes);
    const secured = new TLSSocket(client, { isServer: true, cert, key, ALPNProtocols: ['postgresql'] });
    secured.on('error', () => client.destroy());
    secured.once('data', () => secured.end(response));
  }

  /**
   * Sends the first packet to the server and waits for its answer. A server that closes the connection without one was
   * stopping, had crashed or had a full queue, so the packet is sent again.
   */
  async #forward(client: net.Socket, { kind, bytes }: Packet): Promise<net.Socket> {
    for (let attempt = 1; ; attempt += 1) {
      const address = await this.#target.ensureRunning();
      try {
        return await connectAndWait(kind === 'startup' ? plainSocket(address) : tlsSocket(address), bytes);
      } catch (error) {
        if (attempt === ATTEMPTS || client.destroyed) throw error;
        await sleep(ATTEMPT_PAUSE);
      }
    }
  }
}

/** Identifies a session on TCP by its port and any other one by its process, because `pg_stat_activity` has both. */
const sessionKey = ({ pid, port }: { readonly pid: number; readonly port: number }): string =>
  port > 0 ? `port ${port}` : `process ${pid}`;

interface Packet {
  readonly kind: FirstPacket;
  readonly bytes: Buffer;
}

function connectTo(socket: net.NetConnectOpts, packet: Buffer): net.Socket {
  const server = net.connect({ ...socket, noDelay: true, allowHalfOpen: true });
  server.write(packet);
  return server;
}

async function connectAndWait(socket: net.NetConnectOpts, packet: Buffer): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const server = connectTo(socket, packet);
    const fail = () => reject(new Error('Postgres closed the connection'));
    server.once('close', fail).once('error', reject);
    server.once('data', (answer: Buffer) => {
      server.off('close', fail).off('error', reject).pause();
      server.unshift(answer);
      resolve(server);
    });
    server.once('end', () => server.destroy());
  });
}

/** Reads along until the server has sent the process id of the session. */
function findPid(server: net.Socket, use: (pid: number) => void): void {
  let received: Buffer = Buffer.alloc(0);
  const read = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const pid = readBackendPid(received);
    if (pid === undefined) return;
    server.off('data', read);
    if (pid !== 'none') use(pid);
  };
  server.on('data', read);
}

/** Connects two sockets until one ends. The server's last bytes still reach the client. */
function pipeBothWays(client: net.Socket, server: net.Socket): void {
  server.on('error', () => server.destroy());
  server.once('close', () => client.destroySoon());
  client.once('close', () => server.destroy());
  client.pipe(server);
  server.pipe(client);
}

const isTaken = (error: unknown): boolean => systemReason(error) === 'EADDRINUSE';

function portProblem(port: number, error: unknown): EngineError {
  const reason = isTaken(error) ? 'another program uses it' : asEngineError(error).message;
  return new EngineError(`Port ${port} on ${LOOPBACK} can't be used: ${reason}`, { cause: error });
}
