/** Reads along in a stream of messages of the Postgres protocol (manual, "Message Formats"): a type, a length, and a body. */

/** The bytes of the type and the length. */
const HEAD = 5;
/** The most bytes of a body that are kept. Only the data of COPY and long statements are longer. */
const KEPT = 100_000;

interface Message {
  /** The letter of the type. */
  readonly type: string;
  /** The body, cut off after {@link KEPT} bytes. */
  readonly body: Buffer;
}

/** Splits a stream into messages. Its chunks may end anywhere. */
export class MessageSplitter {
  /** The letters of the types whose bodies are kept. */
  readonly #kept: string;
  #head: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #partsLength = 0;
  #left = 0;
  #type = '';

  constructor(kept: string) {
    this.#kept = kept;
  }

  /** Returns the messages that end in the chunk, with the position in the chunk after each of them. */
  *read(chunk: Buffer): Generator<Message & { readonly end: number }> {
    for (let at = 0; at < chunk.length;) {
      if (this.#type === '') at = this.#readHead(chunk, at);
      if (this.#type === '') return;
      const part = chunk.subarray(at, at + this.#left);
      at += part.length;
      this.#left -= part.length;
      if (this.#kept.includes(this.#type) && this.#partsLength < KEPT) {
        this.#parts.push(part.subarray(0, KEPT - this.#partsLength));
        this.#partsLength += part.length;
      }
      if (this.#left > 0) return;
      const message = { type: this.#type, body: Buffer.concat(this.#parts), end: at };
      [this.#type, this.#parts, this.#partsLength] = ['', [], 0];
      yield message;
    }
  }

  /** Returns the position in the chunk after what was read. */
  #readHead(chunk: Buffer, at: number): number {
    const missing = chunk.subarray(at, at + HEAD - this.#head.length);
    this.#head = Buffer.concat([this.#head, missing]);
    if (this.#head.length < HEAD) return at + missing.length;
    this.#type = this.#head.toString('latin1', 0, 1);
    this.#left = this.#head.readUInt32BE(1) - 4;
    this.#head = Buffer.alloc(0);
    return at + missing.length;
  }
}

/** Returns the texts of a body, which zero bytes separate. */
export const splitAtZeroBytes = (body: Buffer): string[] => body.toString().split('\0');
