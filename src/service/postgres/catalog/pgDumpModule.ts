/**
 * Runs pg_dump as WebAssembly (`@electric-sql/pglite-tools`). It reads and writes synchronously, and Node has no synchronous
 * sockets. So it runs in a worker, which sleeps while this thread passes on a request and collects the answer.
 */
import { once } from 'node:events';
import net from 'node:net';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { limitConcurrency } from '../../../base/limitConcurrency.ts';
import { asEngineError, EngineError } from '../../core/computeEngine.ts';

/** Finds pg_dump's error in the package's message, which has no line breaks and calls the program `[worker eval]`. */
const REASON = /Error message: .*?error: (.*?)(?:\[worker eval\]: |$)/s;

/** A worker takes up to 100 MB. */
const runInTurn = limitConcurrency(1);

/** Runs pg_dump in a worker thread, one at a time, and returns its output. @param file `pg_dump.cjs` @throws {EngineError} */
export async function runPgDumpModule(
  file: string,
  args: readonly string[],
  server: net.NetConnectOpts,
): Promise<string> {
  return runInTurn(async () => {
    const socket = net.connect(server);
    const turn = new Int32Array(new SharedArrayBuffer(4));
    const workerData = { file: pathToFileURL(file).href, args, turn };
    const worker = new Worker(`(${dumpInWorker.toString()})()`, { eval: true, workerData });
    try {
      return await passMessages(worker, new ServerSession(socket), turn);
    } catch (error) {
      const reason = error instanceof Error && REASON.exec(error.message)?.[1];
      throw reason ? new EngineError(reason) : asEngineError(error);
    } finally {
      socket.destroy();
      await worker.terminate();
    }
  });
}

/** Runs in the worker, which gets only the text of this function: it can use nothing of this file. */
async function dumpInWorker(): Promise<void> {
  const { parentPort, receiveMessageOnPort, workerData } = process.getBuiltinModule('node:worker_threads');
  if (parentPort === null) return;
  const { file, args } = workerData;
  const turn: Int32Array = workerData.turn;
  const { pgDump } = await import(file);
  type Listener = { readonly onRawData: (answer: Uint8Array) => void };
  // The module expects PGlite, a Postgres in WebAssembly. This object has the methods of it that pg_dump calls.
  const pg = {
    query: async () => ({ rows: [{ search_path: '' }] }),
    exec: async () => [],
    execProtocolRawStream(request: Uint8Array, { onRawData }: Listener) {
      parentPort.postMessage(request.slice());
      // A late notification of the turn before can end a wait.
      while (Atomics.load(turn, 0) === 0) Atomics.wait(turn, 0, 0);
      Atomics.store(turn, 0, 0);
      onRawData(receiveMessageOnPort(parentPort)?.message);
    },
  };
  const dump = await pgDump({ pg, args });
  parentPort.postMessage(await dump.text());
}

function passMessages(worker: Worker, session: ServerSession, turn: Int32Array): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: Uint8Array | string) => {
      if (typeof message === 'string') return resolve(message);
      session.exchange(message).then((answer) => {
        worker.postMessage(answer);
        Atomics.store(turn, 0, 1);
        Atomics.notify(turn, 0);
      }, reject);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new EngineError(`pg_dump ended with ${code}`)));
  });
}

const TERMINATE = 'X'.charCodeAt(0);

class ServerSession {
  readonly #socket: net.Socket;
  #isStarted = false;
  #request = Buffer.alloc(0);

  constructor(socket: net.Socket) {
    this.#socket = socket;
    // The next request reports the error.
    socket.on('error', () => undefined);
  }

  /** Sends a request or a part of one. @returns the answer to a complete request, otherwise no bytes */
  async exchange(bytes: Uint8Array): Promise<Uint8Array> {
    this.#socket.write(bytes);
    const request = Buffer.concat([this.#request, bytes]);
    // Messages begin with a type, except the first one (the start-up packet).
    const length = this.#isStarted ? messageLength(request) : request.readInt32BE(0);
    const isComplete = length !== undefined && request.length >= length;
    this.#request = isComplete ? Buffer.alloc(0) : request;
    if (!isComplete || (this.#isStarted && request[0] === TERMINATE)) return new Uint8Array();
    this.#isStarted = true;
    return this.#answer();
  }

  async #answer(): Promise<Uint8Array> {
    const answer: Buffer[] = [];
    let rest = Buffer.alloc(0);
    for (;;) {
      const chunk: Buffer | null = this.#socket.read();
      if (chunk === null) {
        if (this.#socket.destroyed) throw new EngineError('The connection to Postgres was lost');
        if (this.#socket.readableEnded) return Buffer.concat(answer);
        await once(this.#socket, 'readable');
        continue;
      }
      answer.push(chunk);
      rest = Buffer.concat([rest, chunk]);
      let isLast = false;
      for (let length = messageLength(rest); length !== undefined && length <= rest.length;) {
        isLast = awaitsRequest(rest);
        rest = rest.subarray(length);
        length = messageLength(rest);
      }
      if (isLast && rest.length === 0) return Buffer.concat(answer);
    }
  }
}

/** Returns the length with the byte of the type, which the length field doesn't count. */
const messageLength = (bytes: Buffer): number | undefined =>
  bytes.length < 5 ? undefined : 1 + bytes.readInt32BE(1);

/** Authentication messages (`R`) after which pg_dump sends nothing: AuthenticationOk and AuthenticationSASLFinal. */
const AUTHENTICATED = [0, 12];

/** Whether the server waits for the next request after this message: for a query, or for a password. */
function awaitsRequest(message: Buffer): boolean {
  const type = String.fromCharCode(message[0] ?? 0);
  return type === 'Z' || (type === 'R' && !AUTHENTICATED.includes(message.readInt32BE(5)));
}
