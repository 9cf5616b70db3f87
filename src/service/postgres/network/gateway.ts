/**
 * A compute's address, which listens whether the compute is active or not. It reads the start-up packet of a connection, wakes
 * the compute, forwards what of the packet is meant for Postgres, and from then on forwards bytes both ways without reading
 * them, except for the key of the session in the server's first answer. TLS ends here: see `gatewayTls.ts`.
 *
 * Postgres doesn't notice that a client has gone while its statement runs, so the gateway cancels the statement.
 *
 * HTTP requests are those of the serverless driver.
 *
 * Activity keeps a compute from being suspended: each connection of a client or of PgBouncer, from its first packet until it
 * closes, whether it runs queries or not. A connection without a packet, a cancel request and the replication of a read
 * replica, which bypasses the gateway, are not activity.
 */
import { once } from 'node:events';
import net from 'node:net';
import { finished } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { asEngineError, EngineError } from '../../core/computeEngine.ts';
import { systemReason } from '../../../base/systemReason.ts';
import type { Certificate } from '../server/certificate.ts';
import { cancelPacket, errorResponse, readBackendKey, readFirstPacket } from './protocol.ts';
import { sendAndAwaitAnswer, connectToServer, pipeBothWays } from './sockets.ts';
import { ClientRefusal } from './refusal.ts';
import { filterStartupPacket, readReplicationRequest, type ReplicationRequest } from './startupPacket.ts';
import { GatewayTls } from './gatewayTls.ts';
import {
  LOOPBACK,
  plainSocketOptions,
  tlsSocketOptions,
  type ServerAddress,
} from '../server/serverAddress.ts';

export interface GatewayTarget {
  /** Starts the server if necessary. @returns its address. @throws with a message for the client */
  ensureRunning(): Promise<ServerAddress>;
  /** Returns the server's address, if it runs. */
  running(): ServerAddress | undefined;
  readonly certificate: Certificate;
  /** Called when the number of client connections has changed. */
  activity(open: number): void;
  /** Loads what serves HTTP clients, whose first bytes are still unread. It logs in at this address, as other clients do. */
  serveHttp(port: number): Promise<(client: net.Socket) => void>;
  /** Forwards what both send, until one of them ends. */
  connect(client: net.Socket, server: net.Socket): void;
  /** Serves a client of logical replication. It is undefined at a pooled address. @throws {ClientRefusal} */
  replicate?(client: net.Socket, server: net.Socket, request: ReplicationRequest): void;
}

/** The limit for a client's whole first packet, in milliseconds, like Postgres's `authentication_timeout`. */
const FIRST_PACKET_LIMIT = 60_000;
/** How often a start-up packet is sent to the server, and the milliseconds between two attempts. */
const ATTEMPTS = 100;
const ATTEMPT_PAUSE = 20;
/** The milliseconds that a client has to read its error before the connection is closed. */
const ERROR_LIMIT = 10_000;
/** The milliseconds that clients have to read the last bytes when the address closes. */
const LAST_BYTES_LIMIT = 1000;
/** The milliseconds that the statement of a client that has gone has to end, and then its next one. */
const LOST_CLIENT_LIMIT = 1000;
/** The milliseconds for which a taken port is tried again, because a process that is ending may still use it. */
const PORT_LIMIT = 1000;
/** The milliseconds between two attempts to use the port. */
const PORT_PAUSE = 50;
/** The most connections that wait to be accepted: enough for a burst of clients at an idle compute. */
const BACKLOG = 4096;

export class Gateway {
  readonly #server: net.Server;
  readonly #target: GatewayTarget;
  readonly #tls: GatewayTls;
  readonly #clients = new Set<net.Socket>();
  /** The ports of clients, by the process id of their session. Postgres knows only the gateway's end of a connection. */
  readonly #clientPorts = new Map<number, number>();
  #open = 0;
  #http: Promise<(client: net.Socket) => void> | undefined;

  private constructor(target: GatewayTarget) {
    this.#target = target;
    this.#tls = new GatewayTls(target.certificate);
    this.#server = net.createServer({ noDelay: true, allowHalfOpen: true }, (client) => this.#accept(client));
  }

  /** Opens the address. @throws {EngineError} if another program uses the port */
  static async listen(port: number, target: GatewayTarget): Promise<Gateway> {
    const gateway = new Gateway(target);
    for (const until = performance.now() + PORT_LIMIT; ;) {
      gateway.#server.listen({ port, host: LOOPBACK, backlog: BACKLOG });
      try {
        await once(gateway.#server, 'listening');
        break;
      } catch (error) {
        if (!isPortTaken(error) || performance.now() > until) throw portError(port, error);
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

  /** Returns the port from which the client of a session has connected; undefined if that was not to this address. */
  clientPort(pid: number): number | undefined {
    return this.#clientPorts.get(pid);
  }

  /** Closes the address and all connections. Clients have a moment to read what was sent to them. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const client of this.#clients) client.destroySoon();
    // Some clients never read what was sent to them: a pager waits for a key, or the process is stopped.
    const timer = setTimeout(() => this.#clients.forEach((client) => client.destroy()), LAST_BYTES_LIMIT);
    await closed;
    clearTimeout(timer);
  }

  #accept(client: net.Socket): void {
    const late = setTimeout(() => client.destroy(), FIRST_PACKET_LIMIT);
    client.once('close', () => clearTimeout(late));
    this.#keep(client);
    this.#serveFirstPacket(client, { isSecure: false, onPacket: () => clearTimeout(late) });
  }

  /** Keeps the client in the list until it closes. */
  #keep(client: net.Socket): void {
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    client.on('error', () => client.destroy());
  }

  /** Serves a client by its first packet, or by the first one inside TLS. When that has been read, `onPacket` is called. */
  #serveFirstPacket(
    client: net.Socket,
    { isSecure, onPacket }: { isSecure: boolean; onPacket: () => void },
  ): void {
    let received: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const kind = readFirstPacket(received);
      if (kind === undefined) return;
      if (kind === 'gssenc' && !isSecure) {
        client.write('N');
        received = Buffer.alloc(0);
        return;
      }
      client.off('data', read).pause();
      if ((kind === 'ssl' || kind === 'tls') && !isSecure) {
        if (kind === 'tls') client.unshift(received);
        this.#startTls(client, kind === 'tls', onPacket).catch(() => client.destroy());
        return;
      }
      onPacket();
      if (kind === 'startup') void this.#serve(client, received, isSecure);
      else if (kind === 'cancel') this.#forwardCancel(client, received);
      else if (kind === 'http' && !isSecure) this.#serveHttp(client, received).catch(() => client.destroy());
      else client.destroy();
    };
    client.on('data', read);
    client.once('end', () => {
      if (client.listeners('data').includes(read)) client.destroy();
    });
  }

  async #startTls(client: net.Socket, isDirect: boolean, onPacket: () => void): Promise<void> {
    const secured = await this.#tls.accept(client, isDirect);
    // The plain socket is forgotten here, because the secured one closes it after the last bytes.
    this.#clients.delete(client);
    this.#keep(secured);
    this.#serveFirstPacket(secured, { isSecure: true, onPacket });
  }

  /** What serves HTTP is loaded by the first HTTP client, because most computes have none. */
  async #serveHttp(client: net.Socket, received: Buffer): Promise<void> {
    client.unshift(received);
    const { port } = this.#server.address() as net.AddressInfo;
    this.#http ??= this.#target.serveHttp(port).catch((error: unknown) => {
      // The next client tries again.
      this.#http = undefined;
      throw error;
    });
    (await this.#http)(client);
  }

  /** Forwards a cancel request. It contains the key of one session, and a server that does not know the key ignores it. */
  #forwardCancel(client: net.Socket, packet: Buffer): void {
    const address = this.#target.running();
    if (address === undefined) client.destroy();
    else {
      const server = connectToServer(plainSocketOptions(address));
      server.write(packet);
      pipeBothWays(client, server);
    }
  }

  /** Starts the server if necessary, and connects the client with it. The client gets the error if that fails. */
  async #serve(client: net.Socket, packet: Buffer, isSecure: boolean): Promise<void> {
    this.#target.activity((this.#open += 1));
    client.once('close', () => this.#target.activity((this.#open -= 1)));
    let server: net.Socket | undefined;
    try {
      const replication = readReplicationRequest(packet);
      if (replication !== undefined && this.#target.replicate === undefined) throw notPooledRefusal();
      server = await this.#forward(client, filterStartupPacket(packet), isSecure);
      if (client.destroyed) server.destroy();
      else {
        if (replication === undefined) this.#target.connect(client, server);
        else this.#target.replicate?.(client, server, replication);
        this.#onSessionStart(client, server);
      }
    } catch (error) {
      server?.destroy();
      client.setTimeout(ERROR_LIMIT, () => client.destroy());
      client.end(errorResponse(error)).resume();
    }
  }

  /** Once the server has sent the session's key: notes whose process it is, and cancels its statement when the client is gone. */
  #onSessionStart(client: net.Socket, server: net.Socket): void {
    onBackendKey(server, (key) => {
      const pid = key.readInt32BE(0);
      this.#rememberPort(client, pid);
      this.#cancelAfterClient(client, server, cancelPacket(key));
    });
  }

  #rememberPort(client: net.Socket, pid: number): void {
    const { remotePort } = client;
    if (remotePort === undefined || client.destroyed) return;
    this.#clientPorts.set(pid, remotePort);
    client.once('close', () => this.#clientPorts.delete(pid));
  }

  /**
   * Cancels the statement of a client that has gone. Postgres ends a session at the end of its input, but reads that only after the
   * statement. `client_connection_check_interval`, which would notice the end earlier, doesn't exist on Windows.
   */
  #cancelAfterClient(client: net.Socket, server: net.Socket, request: Buffer): void {
    let timer: NodeJS.Timeout | undefined;
    server.once('close', () => clearTimeout(timer));
    const cancel = () => {
      const address = this.#target.running();
      // The statement is canceled again afterwards, because the client may have sent several.
      if (address !== undefined)
        connectToServer(plainSocketOptions(address)).once('close', cancelLater).resume().end(request);
    };
    const cancelLater = () => {
      if (!server.destroyed) timer = setTimeout(cancel, LOST_CLIENT_LIMIT);
    };
    finished(client, { writable: false }, cancelLater);
  }

  /**
   * Sends the start-up packet to the server and waits for its answer. A server that closes the connection without one was
   * stopping, had crashed or had a full queue, so the packet is sent again.
   */
  async #forward(client: net.Socket, packet: Buffer, isSecure: boolean): Promise<net.Socket> {
    for (let attempt = 1; ; attempt += 1) {
      const address = await this.#target.ensureRunning();
      const server = connectToServer(isSecure ? tlsSocketOptions(address) : plainSocketOptions(address));
      try {
        return await sendAndAwaitAnswer(isSecure ? await this.#tls.connect(server) : server, packet);
      } catch (error) {
        server.destroy();
        if (attempt === ATTEMPTS || client.destroyed) throw error;
        await sleep(ATTEMPT_PAUSE);
      }
    }
  }
}

/** Reads what the server sends, in addition to other readers, until it has sent the key of the session, and calls `use` with the key. */
function onBackendKey(server: net.Socket, use: (key: Buffer) => void): void {
  let received: Buffer = Buffer.alloc(0);
  const read = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const key = readBackendKey(received);
    if (key === undefined) return;
    server.off('data', read);
    if (key !== 'none') use(key);
  };
  server.on('data', read);
}

const isPortTaken = (error: unknown): boolean => systemReason(error) === 'EADDRINUSE';

const notPooledRefusal = (): ClientRefusal =>
  new ClientRefusal(
    '0A000',
    'the pooled address serves no replication, because its clients share sessions',
    "Use the compute's direct address",
  );

function portError(port: number, error: unknown): EngineError {
  const reason = isPortTaken(error) ? 'another program uses it' : asEngineError(error).message;
  return new EngineError(`Port ${port} on ${LOOPBACK} can't be used: ${reason}`, { cause: error });
}
