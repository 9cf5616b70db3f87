/**
 * A session of the service's own on a running server, for the few statements it needs (base backups, questions about
 * databases). Simple queries only; the drivers clients use are not ours to ship. It is a superuser's, so its statements
 * must find nothing that a user created: They qualify names and operators, and `search_path` holds `pg_catalog` alone.
 */
import net from 'node:net';
import { EngineError } from '../../core/computeEngine.ts';
import { parseErrorMessage } from './errorResponse.ts';
import { scramExchange } from '../data/scramVerifier.ts';
import { startupMessage } from './firstPacket.ts';

export interface SessionOptions {
  readonly socket: { path: string } | { host: string; port: number };
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

interface Message {
  readonly type: string;
  readonly body: Buffer;
}

export class SqlSession {
  readonly #socket: net.Socket;
  readonly #messages: AsyncGenerator<Message, undefined>;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    this.#messages = messagesOf(socket);
  }

  /** @throws {EngineError} with the server's own message */
  static async open(options: SessionOptions): Promise<SqlSession> {
    const socket = net.connect(options.socket);
    socket.on('error', () => {}); // Told to whoever waits for an answer; between questions nobody needs to know.
    const session = new SqlSession(socket);
    const { user, database } = options;
    socket.write(
      // A start-up parameter counts more than what ALTER DATABASE or a configuration file sets.
      startupMessage({ user, database, application_name: 'service', search_path: 'pg_catalog' }),
    );
    try {
      await session.#logIn(options.password);
      return session;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** Runs one statement. @returns its rows as text. @throws {EngineError} with the server's own message. */
  async query(sql: string): Promise<(string | null)[][]> {
    this.#send('Q', Buffer.from(`${sql}\0`));
    const rows: (string | null)[][] = [];
    let problem: EngineError | undefined;
    for (;;) {
      const { type, body } = await this.#next();
      if (type === 'D') rows.push(rowOf(body));
      else if (type === 'E') problem = new EngineError(parseErrorMessage(body));
      else if (type === 'Z') break;
    }
    if (problem) throw problem;
    return rows;
  }

  close(): void {
    this.#send('X', Buffer.alloc(0));
    this.#socket.destroySoon();
  }

  async #logIn(password: string): Promise<void> {
    const scram = scramExchange(password);
    for (;;) {
      const { type, body } = await this.#next();
      if (type === 'E') throw new EngineError(parseErrorMessage(body));
      if (type === 'Z') return;
      if (type !== 'R') continue;
      const text = body.toString('utf8', 4);
      switch (body.readInt32BE(0)) {
        case 10: {
          const first = Buffer.from(scram.first);
          const length = Buffer.alloc(4);
          length.writeInt32BE(first.length);
          this.#send('p', Buffer.concat([Buffer.from('SCRAM-SHA-256\0'), length, first]));
          break;
        }
        case 11:
          this.#send('p', Buffer.from(scram.answer(text)));
          break;
        case 12:
          if (!scram.verify(text))
            throw new EngineError('The server does not know the password it was given');
          break;
        default:
      }
    }
  }

  async #next(): Promise<Message> {
    const { value } = await this.#messages.next();
    if (value === undefined) throw new EngineError('Postgres closed the connection');
    return value;
  }

  #send(type: string, body: Buffer): void {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    this.#socket.write(Buffer.concat([head, body]));
  }
}

async function* messagesOf(socket: net.Socket): AsyncGenerator<Message, undefined> {
  let buffer = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      buffer = Buffer.concat([buffer, Buffer.from(chunk)]);
      while (buffer.length >= 5 && buffer.length >= buffer.readInt32BE(1) + 1) {
        const end = buffer.readInt32BE(1) + 1;
        yield { type: buffer.toString('latin1', 0, 1), body: buffer.subarray(5, end) };
        buffer = buffer.subarray(end);
      }
    }
  } catch (error) {
    throw new EngineError(`Postgres cannot be reached: ${String(error)}`, { cause: error });
  }
}

function rowOf(body: Buffer): (string | null)[] {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const length = body.readInt32BE(at);
    at += 4 + Math.max(length, 0);
    return length < 0 ? null : body.toString('utf8', at - length, at);
  });
}
