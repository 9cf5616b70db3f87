/**
 * A compute's address: listens whether the compute runs or not. It reads a connection's first packet, has the compute
 * woken for it, hands the packet on, and from then on moves bytes both ways without looking at them.
 *
 * Activity (what keeps a compute from being suspended) is a client connection past its first packet, from then until
 * it closes, whether it runs queries or not. A bare TCP connection, an SSL request and a cancel request are none, nor is a
 * read replica, which reaches its primary without passing here. A connection of the pooler's counts as any other.
 */
import net from 'node:net';
import { EngineError } from '../../core/computeEngine.ts';
import { errorResponse } from './errorResponse.ts';
import { readFirstPacket } from './firstPacket.ts';

export type ServerSocket = { path: string } | { host: string; port: number };

export interface GatewayTarget {
  /** Where the server listens, once it runs; starts it if need be. Rejects with words for the client. */
  reach(): Promise<ServerSocket>;
  /** Where the server listens if it runs now. */
  running(): ServerSocket | undefined;
  /** The number of client connections changed. */
  activity(open: number): void;
}

/** How long a client may take to say who it is: Postgres's own `authentication_timeout`. Milliseconds. */
const FIRST_PACKET_LIMIT = 60_000;
const ATTEMPTS = 100;
const ATTEMPT_PAUSE = 20;
/** For a client to take the error it was sent before its connection is cut. */
const LAST_WORDS_LIMIT = 1000;
/** A process on its way out may hold the port for a moment. Milliseconds. */
const PORT_LIMIT = 1000;
const PORT_PAUSE = 50;
/** Waiting connections; a burst of clients at an idle compute must not be refused. */
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

  /** @throws {EngineError} when the port is another program's */
  static async listen(port: number, target: GatewayTarget): Promise<Gateway> {
    const gateway = new Gateway(target);
    for (const until = performance.now() + PORT_LIMIT; ;) {
      const problem = await listenOn(gateway.#server, port);
      if (problem === undefined) break;
      if (problem.code !== 'EADDRINUSE' || performance.now() > until) throw portProblem(port, problem);
      await new Promise((resolve) => setTimeout(resolve, PORT_PAUSE));
    }
    // From here on only a failing accept (no file descriptor left) can report an error; the next one may do.
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
    let arrived: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      arrived = arrived.length === 0 ? chunk : Buffer.concat([arrived, chunk]);
      const packet = readFirstPacket(arrived);
      if (packet === undefined) return;
      if (packet === 'invalid') {
        client.destroy();
      } else if (packet.kind === 'ssl' || packet.kind === 'gssenc') {
        // "No": neither is offered on loopback. What came along uncalled-for would be an attempt to smuggle.
        if (arrived.length > packet.length) client.destroy();
        else client.write('N');
        arrived = Buffer.alloc(0);
      } else {
        client.off('data', read);
        client.pause();
        client.setTimeout(0);
        client.removeAllListeners('timeout');
        if (packet.kind === 'cancel') this.#cancel(client, arrived);
        else void this.#serve(client, arrived);
      }
    };
    client.on('data', read);
    client.once('end', () => {
      if (client.listeners('data').includes(read)) client.destroy();
    });
  }

  /** A cancel request bears the key of one backend, so a server that does not know the key ignores it. */
  #cancel(client: net.Socket, packet: Buffer): void {
    const socket = this.#target.running();
    if (socket === undefined) client.destroy();
    else join(client, connectTo(socket, packet));
  }

  async #serve(client: net.Socket, packet: Buffer): Promise<void> {
    this.#target.activity((this.#open += 1));
    client.once('close', () => this.#target.activity((this.#open -= 1)));
    try {
      const server = await this.#introduce(client, packet);
      if (client.destroyed) server.destroy();
      else join(client, server);
    } catch (error) {
      client.end(errorResponse(error instanceof Error ? error.message : String(error)));
      client.resume().setTimeout(LAST_WORDS_LIMIT, () => client.destroy());
    }
  }

  /**
   * Hands the first packet to the server and waits for the first answer. A server that ends without one had not taken the
   * connection yet (it was about to end, or is dead and not known to be, or its queue was full): the next is tried.
   */
  async #introduce(client: net.Socket, packet: Buffer): Promise<net.Socket> {
    for (let attempt = 1; ; attempt += 1) {
      const socket = await this.#target.reach();
      try {
        return await answering(socket, packet);
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

async function answering(socket: ServerSocket, packet: Buffer): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const server = connectTo(socket, packet);
    const refuse = () => reject(new Error('Postgres closed the connection'));
    server.once('close', refuse).once('error', reject);
    server.once('data', (answer: Buffer) => {
      server.off('close', refuse).off('error', reject).pause();
      server.unshift(answer);
      resolve(server);
    });
    server.once('end', () => server.destroy());
  });
}

/** Passes everything between two sockets until one is done; what the server said last still reaches the client. */
function join(client: net.Socket, server: net.Socket): void {
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
  return new EngineError(`Port ${port} on 127.0.0.1 cannot be listened on: ${reason}`, { cause: error });
}
