/** What the real psql sends for a script, recorded by a server without a database. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { int32, message } from './postgresConversation.ts';

/** A statement, or the data of a COPY, with a character for each byte. */
export type Sent = readonly ['statement' | 'data', string];

/** What the server replies, except that it has run the statement. */
export interface ScriptReply {
  readonly isCopy: boolean;
  readonly standardStrings?: 'on' | 'off' | undefined;
}

/** Recognizes two statements, if they are all of the text. Any text is run. */
export function replyTo(statement: string): ScriptReply {
  const [, standardStrings] = /^set standard_conforming_strings = (on|off);?\s*$/.exec(statement) ?? [];
  return {
    isCopy: /^copy t from stdin;?\s*$/.test(statement),
    standardStrings: standardStrings === 'on' || standardStrings === 'off' ? standardStrings : undefined,
  };
}

const MARK = 'select mark_of_the_end;';
const parameter = (name: string, value: string) => message('S', `${name}\0${value}\0`);
const READY = message('Z', 'I');
const GREETING = Buffer.concat([
  message('R', int32(0)),
  parameter('server_version', '18.0'),
  parameter('client_encoding', 'UTF8'),
  parameter('standard_conforming_strings', 'on'),
  message('K', int32(1), int32(1)),
  READY,
]);
const DONE = Buffer.concat([message('C', 'SET\0'), READY]);
const COPY_IN = message('G', Buffer.from([0, 0, 0]));

/**
 * @param program psql
 * @returns what it sends for each script; undefined if the script has a command that psql rejects, where it skips the line
 */
export async function recordPsql(
  program: string,
  scripts: readonly string[],
): Promise<(readonly Sent[] | undefined)[]> {
  const all: Sent[][] = [];
  let current: Sent[] = [];
  const server = createServer((socket) => {
    serve(socket, (sent) => {
      if (sent[1] === MARK) all.push(current);
      if (sent[1] === MARK) current = [];
      else current.push(sent);
    });
  });
  const folder = mkdtempSync(path.join(os.tmpdir(), 'psql-'));
  server.listen(path.join(folder, '.s.PGSQL.5432'));
  await once(server, 'listening');
  let errors = '';
  try {
    const lines = scripts.map((script, index) => {
      writeFileSync(path.join(folder, `${index}.sql`), script, 'latin1');
      return `\\i '${index}.sql'\n${MARK}\n`;
    });
    writeFileSync(path.join(folder, 'all'), lines.join(''));
    const args = ['-X', '-q', '-f', 'all', '-h', folder, '-p', '5432', '-U', 'u', 'd'];
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    await once(child, 'close');
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
  const rejected = new Set(
    [...errors.matchAll(/^psql:(\d+)\.sql:\d+: error: /gm)].map(([, index]) => Number(index)),
  );
  return all.map((sent, index) => (rejected.has(index) ? undefined : sent));
}

function serve(socket: Socket, onSent: (sent: Sent) => void): void {
  let received = Buffer.alloc(0);
  let hasStarted = false;
  let data: Buffer[] = [];
  const handle = (type: string, body: Buffer): void => {
    if (type === 'd') data.push(body);
    if (type === 'c' || type === 'f') {
      onSent(['data', Buffer.concat(data).toString('latin1')]);
      data = [];
      socket.write(DONE);
    }
    if (type !== 'Q') return;
    const statement = body.subarray(0, -1).toString('latin1');
    onSent(['statement', statement]);
    const { isCopy, standardStrings } = replyTo(statement);
    const reported = statement === MARK ? 'on' : standardStrings;
    if (reported !== undefined) socket.write(parameter('standard_conforming_strings', reported));
    socket.write(isCopy ? COPY_IN : DONE);
  };
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const start = hasStarted ? 1 : 0;
      if (received.length < start + 4) return;
      const end = start + received.readInt32BE(start);
      if (received.length < end) return;
      if (hasStarted) handle(String.fromCharCode(received[0] ?? 0), received.subarray(5, end));
      else socket.write(GREETING);
      hasStarted = true;
      received = received.subarray(end);
    }
  });
}
