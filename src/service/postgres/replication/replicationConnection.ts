/**
 * A client's connection for logical replication. Postgres has no right for that alone: a role with REPLICATION may also copy the
 * whole cluster and drop the slots of others, so no user's role has it. The client's session is an ordinary one, which Postgres
 * has admitted, and which runs the client's SQL. The commands of replication run on another connection, the sender, which the
 * service opens with its own rights. The sender gets only the commands that `replicationCommand.ts` has read, and the client's
 * confirmations. It ends with the session.
 */
import type net from 'node:net';
import type { Duplex } from 'node:stream';
import { MessageSplitter } from '../network/messages.ts';
import { errorResponse } from '../network/protocol.ts';
import { ClientRefusal } from '../network/refusal.ts';
import { readReplicationCommand, type ReplicationCommand } from './replicationCommand.ts';

type SlotCreation = Extract<ReplicationCommand, { readonly kind: 'create' }>;

/** The connection on which the commands of replication run. */
export interface ReplicationSender {
  readonly socket: Duplex;
  /** Requires that the client may use a command. @throws {ClientRefusal} */
  requireAllowed(command: ReplicationCommand): Promise<void>;
}

/** The most bytes of a message. Only COPY FROM has longer ones, which a replication connection doesn't need. */
const MAX_MESSAGE = 1_048_576;
/** The most chunks of the session that wait while the sender answers. Only a session that listens for notifications sends as many. */
const MAX_HELD = 1000;
const HEAD = 5;
const [QUERY, READY] = ['Q'.charCodeAt(0), 'Z'.charCodeAt(0)];
/** The types of messages in a stream of changes: CopyData, CopyDone and CopyFail. */
const STREAMED = 'dcf';
/** The first byte of a confirmation. Other messages would act on the sender's slot and on old rows. */
const CONFIRMATION = 'r'.charCodeAt(0);
/** The message CommandComplete for a copy of no rows, which ends a stream. */
const STREAM_END = Buffer.from('C\0\0\0\x0bCOPY 0\0', 'latin1');
const IN_TRANSACTION = 'T'.charCodeAt(0);

/** Serves a client that uses logical replication. */
export class ReplicationConnection {
  readonly #client: net.Socket;
  readonly #session: net.Socket;
  readonly #openSender: (pid: number) => Promise<ReplicationSender>;
  #sender: ReplicationSender | undefined;
  #pid = 0;
  /** The state of the session's transaction. */
  #status = 0;
  #sessionReady = Promise.withResolvers<void>();
  #isSessionReady = false;
  /** What the session sends while the sender answers. It waits, because messages of both must not be mixed. */
  #waitingSessionData: Buffer[] = [];
  /** The command that the sender runs: what to call when it begins to stream and when it ends. */
  #running:
    | { readonly begun: () => void; readonly ended: () => void; readonly whenEnded: Promise<void> }
    | undefined;
  #isStreaming = false;
  #isBetweenMessages = true;
  /** Collects an answer that the client gets later or never; undefined while answers go to the client. */
  #collectedAnswer: Buffer[] | undefined;

  /** @param session has got the start-up packet of the client @param openSender opens the sender for the session of this process */
  constructor(
    client: net.Socket,
    session: net.Socket,
    openSender: (pid: number) => Promise<ReplicationSender>,
  ) {
    [this.#client, this.#session, this.#openSender] = [client, session, openSender];
    const messages = new MessageSplitter('KZ');
    session.on('data', (chunk: Buffer) => this.#handleSessionData(messages, chunk)).resume();
    session.on('error', () => session.destroy());
    session.once('close', () => this.#end());
    client.once('close', () => {
      this.#sender?.socket.destroy();
      session.resume().end();
    });
    void this.#serve();
  }

  /**
   * Sends what was held back: the error with which the session ended. But a stream of changes ends as when a server stops
   * (`WalSndShutdown`). From the error, consumers such as zero-cache would conclude that an administrator had ended the use of their
   * slot, and would not connect again.
   */
  #end(): void {
    this.#sender?.socket.destroy();
    // A client that doesn't read would keep its connection forever.
    if (!this.#isBetweenMessages || this.#client.writableNeedDrain) return void this.#client.destroy();
    for (const chunk of this.#isStreaming ? [STREAM_END] : this.#waitingSessionData)
      this.#client.write(chunk);
    this.#client.destroySoon();
  }

  async #serve(): Promise<void> {
    try {
      for await (const message of messagesOf(this.#client)) await this.#handle(message);
      this.#session.end();
    } catch (error) {
      this.#client.end(errorResponse(error));
      this.#session.end();
    }
  }

  async #handle(message: Buffer): Promise<void> {
    const type = message.toString('latin1', 0, 1);
    if (STREAMED.includes(type)) {
      if (this.#isStreaming) return this.#confirm(type, message);
      // A message of a copy that comes too late is ignored, as Postgres does.
      if (this.#isSessionReady) return undefined;
    }
    if (message[0] !== QUERY) return this.#sendToSession(message);
    // The first query waits until Postgres has admitted the client.
    await this.#sessionReady.promise;
    await this.#running?.whenEnded;
    try {
      const command = readReplicationCommand(message.toString('utf8', HEAD, message.length - 1));
      if (command === undefined) this.#sendToSession(message);
      else await this.#run(command);
    } catch (error) {
      const ready = Buffer.from([READY, 0, 0, 0, 5, this.#status]);
      this.#client.write(Buffer.concat([errorResponse(error, 'ERROR'), ready]));
    }
  }

  #sendToSession(message: Buffer): void {
    if (this.#isSessionReady) this.#sessionReady = Promise.withResolvers<void>();
    this.#isSessionReady = false;
    this.#session.write(message);
  }

  #confirm(type: string, message: Buffer): void {
    if (type === 'd' && message[HEAD] !== CONFIRMATION)
      throw new ClientRefusal('08P01', 'a client of logical replication only confirms what it has got');
    this.#sender?.socket.write(message);
  }

  #handleSessionData(messages: MessageSplitter, chunk: Buffer): void {
    for (const { type, body } of messages.read(chunk)) {
      if (type === 'K') this.#pid = body.readInt32BE(0);
      if (type !== 'Z') continue;
      this.#status = body.readUInt8(0);
      this.#isSessionReady = true;
      this.#sessionReady.resolve();
    }
    if (this.#waitingSessionData.length === MAX_HELD) this.#session.destroy();
    else if (this.#running !== undefined) this.#waitingSessionData.push(chunk);
    else if (this.#collectedAnswer !== undefined) this.#collectedAnswer.push(chunk);
    else this.#sendToClient(this.#session, chunk);
  }

  #sendToClient(source: Duplex, chunk: Buffer): void {
    if (this.#client.write(chunk)) return;
    source.pause();
    this.#client.once('drain', () => source.resume());
  }

  async #run(command: ReplicationCommand): Promise<void> {
    this.#sender ??= await this.#connect();
    await this.#sender.requireAllowed(command);
    if (command.kind === 'create' && command.usesSnapshot) return this.#createForTransaction(command);
    await this.#send(command.text);
  }

  async #connect(): Promise<ReplicationSender> {
    const sender = await this.#openSender(this.#pid);
    const { socket } = sender;
    const messages = new MessageSplitter('');
    socket.on('data', (chunk: Buffer) => this.#handleSenderData(socket, messages, chunk)).resume();
    socket.once('close', () => {
      this.#client.destroySoon();
      this.#session.end();
    });
    if (this.#client.destroyed || this.#session.destroyed) socket.destroy();
    return sender;
  }

  /** Resolves when the sender has answered, or has begun to send changes. */
  async #send(text: string): Promise<void> {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#running = { begun: begun.resolve, ended: ended.resolve, whenEnded: ended.promise };
    this.#sender?.socket.write(queryMessage(text));
    await Promise.race([begun.promise, ended.promise]);
  }

  #handleSenderData(socket: Duplex, messages: MessageSplitter, chunk: Buffer): void {
    let last = 0;
    let isEnd = false;
    for (const { type, end } of messages.read(chunk)) {
      last = end;
      if (type === 'W') {
        this.#isStreaming = true;
        this.#running?.begun();
      } else if (type === 'Z') {
        // ReadyForQuery ends with the state of the transaction. The client's transaction is that of its session.
        chunk[end - 1] = this.#status;
        isEnd = true;
      }
    }
    this.#isBetweenMessages = last === chunk.length;
    if (this.#collectedAnswer === undefined) this.#sendToClient(socket, chunk);
    else this.#collectedAnswer.push(chunk);
    if (!isEnd) return;
    this.#isStreaming = false;
    this.#running?.ended();
    this.#running = undefined;
    for (const held of this.#waitingSessionData.splice(0)) this.#sendToClient(this.#session, held);
  }

  /** Creates a slot by the sender, and lets the transaction of the session take over the slot's snapshot. */
  async #createForTransaction({ text, undo }: SlotCreation): Promise<void> {
    if (this.#status !== IN_TRANSACTION)
      throw new ClientRefusal('25P01', 'a slot whose snapshot is used must be created in a transaction');
    const created = await this.#answerTo(async () => this.#send(text));
    const snapshot = snapshotName(created);
    if (snapshot === undefined) return void this.#client.write(created);
    const taken = await this.#answerTo(async () => {
      this.#sendToSession(queryMessage(`SET TRANSACTION SNAPSHOT '${snapshot}'`));
      await this.#sessionReady.promise;
    });
    const isRefused = messageTypes(taken).includes('E');
    if (isRefused) await this.#answerTo(async () => this.#send(undo));
    this.#client.write(isRefused ? taken : created);
  }

  async #answerTo(ask: () => Promise<void>): Promise<Buffer> {
    const kept: Buffer[] = [];
    this.#collectedAnswer = kept;
    await ask();
    this.#collectedAnswer = undefined;
    return Buffer.concat(kept);
  }
}

function queryMessage(text: string): Buffer {
  const head = Buffer.from([QUERY, 0, 0, 0, 0]);
  const body = Buffer.from(`${text}\0`);
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

async function* messagesOf(client: net.Socket): AsyncGenerator<Buffer> {
  let received: Buffer = Buffer.alloc(0);
  for await (const chunk of client.iterator({ destroyOnReturn: false })) {
    received = Buffer.concat([received, chunk as Buffer]);
    while (received.length >= HEAD) {
      const length = 1 + received.readUInt32BE(1);
      if (length < HEAD || length > MAX_MESSAGE)
        throw new ClientRefusal('08P01', 'a message of a replication connection is too long or malformed');
      if (received.length < length) break;
      yield received.subarray(0, length);
      received = received.subarray(length);
    }
  }
}

const messageTypes = (answer: Buffer): string[] =>
  [...new MessageSplitter('').read(answer)].map(({ type }) => type);

/** Returns the third column of the row that describes a new slot. Undefined for an error. */
function snapshotName(answer: Buffer): string | undefined {
  const row = [...new MessageSplitter('D').read(answer)].find(({ type }) => type === 'D')?.body;
  if (row === undefined) return undefined;
  let at = 2;
  for (let column = 0; ; column += 1) {
    const length = row.readInt32BE(at);
    if (column === 2) return length < 0 ? undefined : row.toString('latin1', at + 4, at + 4 + length);
    at += 4 + Math.max(0, length);
  }
}
