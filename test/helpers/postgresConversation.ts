import type { Socket } from 'node:net';

/** What the server replies to a statement: rows of texts, an error by its fields, or nothing. */
export type Reply =
  | { readonly columns: readonly string[]; readonly rows: readonly (readonly (string | null)[])[] }
  | { readonly error: Readonly<Record<string, string>> }
  | undefined;

export const message = (type: string, ...parts: readonly (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};
const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
export function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}
const READY = message('Z', 'I');
const CANCEL_REQUEST = 80_877_102;
export const PROCESS = 1234;
export const SECRET = 5678;

const describeRows = (columns: readonly string[]): Buffer =>
  message(
    'T',
    int16(columns.length),
    ...columns.flatMap((name) => [
      `${name}\0`,
      int32(0),
      int16(0),
      int32(25),
      int16(-1 & 0xffff),
      int32(-1),
      int16(0),
    ]),
  );
const dataRow = (row: readonly (string | null)[]): Buffer =>
  message(
    'D',
    int16(row.length),
    ...row.flatMap((value) =>
      value === null ? [int32(-1)] : [int32(Buffer.byteLength(value)), Buffer.from(value)],
    ),
  );
const errorMessage = (fields: Readonly<Record<string, string>>): Buffer =>
  message('E', ...Object.entries(fields).map(([field, value]) => `${field}${value}\0`), '\0');

/** The protocol of Postgres without a database. */
export class Conversation {
  readonly #socket: Socket;
  readonly #replyTo: (sql: string) => Reply;
  #received = Buffer.alloc(0);
  #hasStarted = false;
  #reply: Reply;
  #isLookup = false;
  #unsent: readonly Buffer[] = [];
  readonly #texts: string[];
  readonly #limits: number[];
  readonly #onCancel: (ids: readonly number[]) => void;

  constructor(
    socket: Socket,
    replyTo: (sql: string) => Reply,
    { texts = [], limits = [] }: { readonly texts?: string[]; readonly limits?: number[] } = {},
    onCancel: (ids: readonly number[]) => void = () => undefined,
  ) {
    this.#socket = socket;
    this.#replyTo = replyTo;
    this.#texts = texts;
    this.#limits = limits;
    this.#onCancel = onCancel;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      while (this.#readOne());
    });
  }

  endStatement(): void {
    if (this.#hasStarted) this.#send(errorMessage({ S: 'ERROR', C: '57014', M: 'canceled' }));
  }

  #readOne(): boolean {
    const lead = this.#hasStarted ? 1 : 0;
    if (this.#received.length < lead + 4) return false;
    const end = lead + this.#received.readInt32BE(lead);
    if (this.#received.length < end) return false;
    const type = this.#received.toString('latin1', 0, lead);
    const body = this.#received.subarray(lead + 4, end);
    this.#received = this.#received.subarray(end);
    this.#answer(type, body);
    return true;
  }

  #answer(type: string, body: Buffer): void {
    switch (type) {
      case '':
        if (body.readInt32BE(0) === CANCEL_REQUEST) {
          this.#onCancel([body.readInt32BE(4), body.readInt32BE(8)]);
          return void this.#socket.destroy();
        }
        this.#hasStarted = true;
        return this.#send(message('R', int32(0)), message('K', int32(PROCESS), int32(SECRET)), READY);
      case 'Q':
        this.#texts.push(body.toString('utf8', 0, body.length - 1));
        return this.#send(message('C', 'SELECT 1\0'), READY);
      case 'P': {
        const sql = body.toString('utf8', 1, body.indexOf(0, 1));
        // The look-up of a role's settings.
        this.#isLookup = sql.includes('pg_db_role_setting');
        if (this.#isLookup) this.#reply = { columns: ['set_config'], rows: [['']] };
        else {
          this.#texts.push(sql);
          this.#reply = sql.includes('format_type')
            ? {
                columns: ['format_type', 'exists'],
                rows: [
                  ['text', 'f'],
                  ['text', 'f'],
                ],
              }
            : this.#replyTo(sql);
        }
        const reply = this.#reply;
        const hasFailed = reply !== undefined && 'error' in reply;
        return hasFailed ? this.#send(errorMessage(reply.error)) : this.#keep(message('1'));
      }
      case 'D':
        if (this.#reply !== undefined && 'columns' in this.#reply)
          this.#keep(message('t', int16(0)), describeRows(this.#reply.columns));
        return;
      case 'B':
        return this.#keep(message('2'));
      case 'E': {
        if (!this.#isLookup) this.#limits.push(body.readInt32BE(1));
        const rows = this.#reply !== undefined && 'rows' in this.#reply ? this.#reply.rows : [];
        return this.#keep(...rows.map(dataRow), message('C', `SELECT ${rows.length}\0`));
      }
      case 'H':
        return this.#send();
      case 'S':
        return this.#send(READY);
      case 'X':
        return void this.#socket.end();
    }
  }

  /** As Postgres, which sends them only after a Flush or Sync. */
  #keep(...messages: readonly Buffer[]): void {
    this.#unsent = [...this.#unsent, ...messages];
  }

  #send(...messages: readonly Buffer[]): void {
    this.#socket.write(Buffer.concat([...this.#unsent, ...messages]));
    this.#unsent = [];
  }
}
