/** A server on loopback that records as whom Postgres clients log in, with the password in clear text, and rejects each client. */
import net, { type Socket } from 'node:net';
import { listen } from './listen.ts';

export interface RecordedLogin {
  readonly role: string | undefined;
  readonly database: string | undefined;
  /** Undefined if the client had none. */
  readonly password: string | undefined;
}

export interface LoginRecorder {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  readonly logins: RecordedLogin[];
}

const CLEAR_TEXT_PASSWORD = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);
/** The protocol version 3.x of a startup message. Others ask for TLS or GSSAPI. */
const STARTUP = 3;

/** It stops with the test. */
export async function recordLogins(): Promise<LoginRecorder> {
  const logins: RecordedLogin[] = [];
  const server = net.createServer((socket) => void record(socket, logins));
  return { host: `127.0.0.1:${await listen(server)}`, logins };
}

async function record(socket: Socket, logins: RecordedLogin[]): Promise<void> {
  let startup: ReadonlyMap<string, string> | undefined;
  const finish = (password: string | undefined) => {
    if (startup !== undefined)
      logins.push({ role: startup.get('user'), database: startup.get('database'), password });
    socket.destroy();
  };
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    if (startup !== undefined) return finish(chunk.subarray(5, -1).toString());
    if (chunk.readInt16BE(4) === STARTUP) {
      startup = parametersOf(chunk);
      socket.write(CLEAR_TEXT_PASSWORD);
    } else socket.write('N');
  }
  finish(undefined);
}

function parametersOf(startup: Buffer): ReadonlyMap<string, string> {
  const texts = startup.subarray(8, -2).toString().split('\0');
  return new Map(texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? '']] : [])));
}
