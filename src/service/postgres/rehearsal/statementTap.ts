/** Reads along in a client's session: which statements it sends, how long each takes, and how each ends. */
import { Transform, type TransformCallback } from 'node:stream';
import type { StatementError } from '../../../api/records/rehearsal.ts';
import { MessageSplitter, splitAtZeroBytes } from '../network/messages.ts';

/** Called for what happens in a session. */
export interface StatementEvents {
  /** The process of the session. */
  started(pid: number): void;
  /** A statement was sent. @returns its record */
  begun(text: string): SeenStatement;
  /** The reply to a statement has arrived; `ready` follows. */
  ended(statement: SeenStatement): void;
  /** The server waits for the next statement. The client gets to know it when the promise has resolved. */
  ready(isInTransaction: boolean): Promise<void>;
  /** The client ends the session. The server gets to know it when the promise has resolved. */
  leaving(): Promise<void>;
  closed(): void;
}

/** A statement of a client. The record changes until the statement has ended. */
export interface SeenStatement {
  readonly text: string;
  readonly tags: string[];
  error?: StatementError;
}

/** What the server hasn't answered yet, in the order in which it will. */
interface Pending {
  /**
   * A simple query can have several statements. It ends with `ready`, and so does what was sent before a Sync. A statement begins
   * when it is executed, or when it can't be parsed.
   */
  readonly kind: 'simple' | 'parse' | 'execute' | 'sync';
  readonly text: string;
  seen?: SeenStatement;
}

/** Recognizes the statements in a session and their replies. */
export class StatementTap {
  readonly #events: StatementEvents;
  readonly #prepared = new Map<string, string>();
  readonly #portals = new Map<string, string>();
  readonly #pending: Pending[] = [];
  /** Whether the server waits for the data of a COPY. */
  #isCopying = false;

  constructor(events: StatementEvents) {
    this.#events = events;
  }

  /** Returns a stream for what the client sends. */
  fromClient(): Transform {
    const messages = new MessageSplitter('QPBE');
    const leave = async (done: TransformCallback, chunk?: Buffer) => {
      await this.#events.leaving();
      done(null, chunk);
    };
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        let isEnd = false;
        for (const { type, body } of messages.read(chunk)) {
          this.#handleClientMessage(type, body);
          isEnd ||= type === 'X';
        }
        if (isEnd) void leave(done, chunk);
        else done(null, chunk);
      },
      flush: (done) => void leave(done),
    });
  }

  /** Returns a stream for what the server sends. What comes before the end of a statement isn't held back. */
  fromServer(): Transform {
    const messages = new MessageSplitter('KCEZ');
    const tap: Transform = new Transform({
      transform: (chunk: Buffer, _encoding, done) => void this.#forward(tap, messages, chunk, done),
    });
    return tap;
  }

  async #forward(
    tap: Transform,
    messages: MessageSplitter,
    chunk: Buffer,
    done: TransformCallback,
  ): Promise<void> {
    let forwarded = 0;
    for (const { type, body, end } of messages.read(chunk)) {
      this.#handleServerMessage(type, body);
      if (type !== 'Z') continue;
      // The head of the message may have been forwarded with the chunk before. The client can't use it yet.
      const last = Math.max(forwarded, end - 1);
      tap.push(chunk.subarray(forwarded, last));
      forwarded = last;
      await this.#events.ready(body.toString('latin1') !== 'I');
    }
    done(null, chunk.subarray(forwarded));
  }

  #handleClientMessage(type: string, body: Buffer): void {
    // CopyDone or CopyFail ends the copy. Until then, Postgres ignores a Sync (manual, "COPY Operations").
    if (type === 'c' || type === 'f') this.#isCopying = false;
    if (this.#isCopying) return;
    const [first = '', second = ''] = splitAtZeroBytes(body);
    if (type === 'Q') this.#add('simple', first);
    else if (type === 'P') {
      this.#prepared.set(first, second);
      this.#add('parse', second);
    } else if (type === 'B') this.#portals.set(first, this.#prepared.get(second) ?? '');
    else if (type === 'E') this.#add('execute', this.#portals.get(first) ?? '');
    // The call of a function (F) is answered like a Sync.
    else if (type === 'S' || type === 'F') this.#add('sync', '');
  }

  #add(kind: Pending['kind'], text: string): void {
    this.#pending.push({ kind, text });
    this.#beginFirst();
  }

  /** Begins the first statement at once, because the replies to all messages may come together. */
  #beginFirst(): void {
    const first = this.#firstExecuted();
    if (first !== undefined && first.kind !== 'sync') first.seen ??= this.#events.begun(first.text);
  }

  #firstExecuted(): Pending | undefined {
    return this.#pending.find(({ kind }) => kind !== 'parse');
  }

  #handleServerMessage(type: string, body: Buffer): void {
    if (type === 'K') return this.#events.started(body.readUInt32BE());
    if (type === 'Z') return this.#skipToReady();
    const [first] = this.#pending;
    if (first?.kind === 'parse') return this.#handleParseReply(first, type, body);
    if (type === 'E') this.#isCopying = false;
    if (type === 'G') this.#beginCopy(first);
    // A portal that is suspended (s) is executed again.
    if (first?.seen === undefined || !'CEIs'.includes(type)) return;
    if (type === 'C') first.seen.tags.push(splitAtZeroBytes(body)[0] ?? '');
    if (type === 'E') first.seen.error = parseError(body);
    else if (first.kind === 'execute') {
      this.#endFirst();
      this.#beginFirst();
    }
  }

  /** A Sync may have been sent before the server asks for the data. */
  #beginCopy(first: Pending | undefined): void {
    this.#isCopying = true;
    if (first?.kind === 'execute') this.#pending.length = 1;
  }

  #handleParseReply(first: Pending, type: string, body: Buffer): void {
    if (type === '1') this.#pending.shift();
    if (type !== 'E') return;
    const executed = this.#firstExecuted();
    const begun = executed?.text === first.text ? executed.seen : undefined;
    const seen = begun ?? this.#events.begun(first.text);
    seen.error = parseError(body);
    first.seen = seen;
  }

  /** Ends all that is pending up to a Sync: after an error, the server has skipped what was sent up to here. */
  #skipToReady(): void {
    let kind = this.#endFirst();
    while (kind === 'parse' || kind === 'execute') kind = this.#endFirst();
    this.#beginFirst();
  }

  #endFirst(): Pending['kind'] | undefined {
    const first = this.#pending.shift();
    if (first?.seen !== undefined) this.#events.ended(first.seen);
    return first?.kind;
  }
}

/** Reads the fields of an error (manual, "Error and Notice Message Fields"). */
function parseError(body: Buffer): StatementError {
  const fields = new Map(splitAtZeroBytes(body).map((field) => [field[0], field.slice(1)]));
  const [detail, position] = [fields.get('D'), fields.get('P')];
  return {
    code: fields.get('C') ?? '',
    message: fields.get('M') ?? '',
    ...(detail !== undefined && { detail }),
    ...(position !== undefined && { position: Number(position) }),
  };
}
