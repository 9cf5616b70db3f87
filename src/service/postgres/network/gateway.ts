/**
 * A compute's address, which listens whether the compute is active or not. It reads the first packet of a connection, wakes
 * the compute, forwards the packet, and from then on forwards bytes both ways without reading them.
 *
 * Activity keeps a compute from being suspended. It is any client connection after its first packet until it closes,
 * whether it runs queries or not. A TCP connection without a packet, an SSL request and a cancel request are not activity,
 * and neither is a read replica, which does not use the gateway. A connection of the pooler is.
 */
import net from 'node:net';
import { EngineError } from '../../core/computeEngine.ts';
import { errorResponse, readFirstPacket } from './protocol.ts';

export type ServerSocket = { path: string } | { host: string; port: number };

export interface GatewayTarget {
  /** Starts the server if necessary. @returns its address. @throws with a message for the client */
  reach(): Promise<ServerSocket>;
  /** The server's address, if it runs. */
  running(): ServerSocket | undefined;
  /** The number of client connections changed. */
  activity(open: number): void;
}

/** For a client's first packet, like Postgres's `authentication_timeout`. Milliseconds. */
const FIRST_PACKET_LIMIT = 60_000;
const ATTEMPTS = 100;
const ATTEMPT_PAUSE = 20;
/** For a client to read its error before the connection is closed. Milliseconds. */
const ERROR_LIMIT = 1000;
/** A process that is ending may still use the port. Milliseconds. */
const PORT_LIMIT = 1000;
const PORT_PAUSE = 50;
/** Enough for a burst of clients at an idle compute. */
const BACKLOG = 4096;

export class Gateway {
  readonly #server: net.Server;
  readonly #target: GatewayTarget;
  readonly #clients = new Set<net.Socket>();
  #open = 0;

  private constructor(target: GatewayTarget) {
    this.#target = target;
    this.#server = net.createServer({ noDelay: true, allowHalfOpen: true }, (client) => this.#accept(client));
  }

  /** @throws {EngineError} if another program uses the port */
  static async listen(port: number, target: GatewayTarget): Promise<Gateway> {
    const gateway = new Gateway(target);
    for (const until = performance.now() + PORT_LIMIT; ;) {
      const problem = await listenOn(gateway.#server, port);
      if (problem === undefined) break;
      if (problem.code !== 'EADDRINUSE' || performance.now() > until) throw portProblem(port, problem);
      await new Promise((resolve) => setTimeout(resolve, PORT_PAUSE));
    }
    // Later errors are failed accepts, without a free file descriptor. The next one may succeed.
    gateway.#server.on('error', () => {});
    return gateway;
  }

  get open(): number {
    return this.#open;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const client of this.#clients) client.destroySoon();
    await closed;
  }

  #accept(client: net.Socket): void {
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    client.on('error', () => client.destroy());
    client.setTimeout(FIRST_PACKET_LIMIT, () => client.destroy());
    let received: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const packet = readFirstPacket(received);
      if (packet === undefined) return;
      if (packet === 'invalid') {
        client.destroy();
      } else if (packet.kind === 'ssl' || packet.kind === 'gssenc') {
        // "No": neither is offered on loopback. Bytes after the request would be an injection attempt.
        if (received.length > packet.length) client.destroy();
        else client.write('N');
        received = Buffer.alloc(0);
      } else {
        client.off('data', read);
        client.pause();
        client.setTimeout(0);
        client.removeAllListeners('timeout');
        if (packet.kind === 'cancel') this.#cancel(client, received);
        else void this.#serve(client, received);
      }
    };
    client.on('data', read);
    client.once('end', () => {
      if (client.listeners('data').includes(read)) client.destroy();
    });
  }

  /** A cancel request contains the key of one backend. A server that does not know the key ignores it. */
  #cancel(client: net.Socket, packet: Buffer): void {
    const socket = this.#target.running();
    if (socket === undefined) client.destroy();
    else pipeBothWays(client, connectTo(socket, packet));
  }

  async #serve(client: net.Socket, packet: Buffer): Promise<void> {
    this.#target.activity((this.#open += 1));
    client.once('close', () => this.#target.activity((this.#open -= 1)));
    try {
      const server = await this.#forward(client, packet);
      if (client.destroyed) server.destroy();
      else pipeBothWays(client, server);
    } catch (error) {
      client.end(errorResponse(error instanceof Error ? error.message : String(error)));
      client.resume().setTimeout(ERROR_LIMIT, () => client.destroy());
    }
  }

  /**
   * Sends the first packet to the server and waits for its answer. A server that closes the connection without one was
   * stopping, had crashed or had a full queue, so the packet is sent again.
   */
  async #forward(client: net.Socket, packet: Buffer): Promise<net.Socket> {
    for (let attempt = 1; ; attempt += 1) {
      const socket = await this.#target.reach();
      try {
        return await connectAndWait(socket, packet);
      } catch (error) {
        if (attempt === ATTEMPTS || client.destroyed) throw error;
        await new Promise((resolve) => setTimeout(resolve, ATTEMPT_PAUSE));
      }
    }
  }
}

function connectTo(socket: ServerSocket, packet: Buffer): net.Socket {
  const server = net.connect({ ...socket, noDelay: true, allowHalfOpen: true });
  server.write(packet);
  return server;
}

async function connectAndWait(socket: ServerSocket, packet: Buffer): Promise<net.Socket> {
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

/** Connects two sockets until one ends. The server's last bytes still reach the client. */
function pipeBothWays(client: net.Socket, server: net.Socket): void {
  server.on('error', () => server.destroy());
  server.once('close', () => client.destroySoon());
  client.once('close', () => server.destroy());
  client.pipe(server);
  server.pipe(client);
}

async function listenOn(server: net.Server, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const settle = (problem?: NodeJS.ErrnoException) => {
      server.off('error', settle).off('listening', settle);
      resolve(problem);
    };
    server.once('error', settle).once('listening', settle);
    server.listen({ port, host: '127.0.0.1', backlog: BACKLOG });
  });
}

function portProblem(port: number, error: NodeJS.ErrnoException): EngineError {
  const reason = error.code === 'EADDRINUSE' ? 'another program uses it' : error.message;
  return new EngineError(`Port ${port} on 127.0.0.1 can't be used: ${reason}`, { cause: error });
}
