/** The end of the bridge in a window: a socket that only this user can open, and a secret that each request must have. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { replaceFile } from '../../base/replaceFile.ts';
import { BridgeRequest, lineOf, readLines, type BridgeCall, type BridgeReply } from './bridgeMessages.ts';
import { recordFile, removeStaleRecords } from './windowRecords.ts';

interface BridgeOptions {
  /** For the records of all windows. */
  readonly folder: string;
  /** @throws {Error} with a sentence for the model */
  readonly call: (call: BridgeCall, signal: AbortSignal) => Promise<object>;
  /** Whether an MCP program is connected that VS Code has started for this window. */
  readonly onPresence: (isPresent: boolean) => void;
}

/** Milliseconds that a client may take for its request. */
const MAX_WAIT = 10_000;
const MAX_CONNECTIONS = 100;
/** Characters. */
const MAX_REQUEST = 1024 * 1024;
/** Bytes. Longer paths of sockets are cut off on macOS, and rejected on Linux. */
const MAX_SOCKET_PATH = 100;

export class BridgeServer implements Disposable {
  readonly #options: BridgeOptions;
  readonly #socket: string;
  /** Made for the socket alone. */
  readonly #temporary: string | undefined;
  readonly #token = randomBytes(32).toString('hex');
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #present = 0;

  private constructor(options: BridgeOptions, { socket, temporary }: Place) {
    this.#options = options;
    this.#socket = socket;
    this.#temporary = temporary;
    this.#server = createServer((connection) => this.#accept(connection));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** @throws {Error} if there can be no socket, or no file for it */
  static async listen(options: BridgeOptions, folders: readonly string[]): Promise<BridgeServer> {
    const { folder } = options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    await removeStaleRecords(folder);
    const server = new BridgeServer(options, await findPlace(folder));
    await server.#listen();
    await server.publish(folders);
    return server;
  }

  /** Call this with the focus, too: agents that work outside of all workspaces reach the window that was used last. */
  async publish(folders: readonly string[]): Promise<void> {
    const record = { socket: this.#socket, token: this.#token, folders };
    await replaceFile(recordFile(this.#options.folder, process.pid), JSON.stringify(record), { mode: 0o600 });
  }

  dispose(): void {
    this.#server.close();
    for (const connection of this.#connections) connection.destroy();
    rmSync(recordFile(this.#options.folder, process.pid), { force: true });
    if (this.#temporary !== undefined) rmSync(this.#temporary, { recursive: true, force: true });
  }

  async #listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Later errors change nothing, because the promise is settled.
    this.#server.on('error', reject);
    this.#server.listen(this.#socket, resolve);
    await promise;
    // A window doesn't stay open for agents.
    this.#server.unref();
    if (process.platform !== 'win32') chmodSync(this.#socket, 0o600);
  }

  #accept(connection: Socket): void {
    const controller = new AbortController();
    const deadline = systemClock.after(MAX_WAIT, () => connection.destroy());
    this.#connections.add(connection);
    connection.on('error', () => connection.destroy());
    connection.once('close', () => {
      deadline.dispose();
      this.#connections.delete(connection);
      controller.abort();
    });
    let hasAsked = false;
    const handle = (line: string) => {
      const request = hasAsked ? undefined : this.#parse(line);
      hasAsked = true;
      deadline.dispose();
      if (request === undefined) connection.destroy();
      else if (request.call === undefined) this.#countPresence(connection);
      else void this.#answer(connection, request.call, controller.signal);
    };
    readLines(connection, handle, MAX_REQUEST);
    connection.write(lineOf({}));
  }

  /** Returns undefined for what isn't a request, or has another token. */
  #parse(line: string): BridgeRequest | undefined {
    try {
      const request = BridgeRequest.parse(JSON.parse(line));
      return timingSafeEqual(digest(request.token), digest(this.#token)) ? request : undefined;
    } catch {
      return undefined;
    }
  }

  async #answer(connection: Socket, call: BridgeCall, signal: AbortSignal): Promise<void> {
    const reply = await this.#options.call(call, signal).then(
      (result): BridgeReply => ({ result }),
      (error: unknown): BridgeReply => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    connection.end(lineOf(reply));
  }

  #countPresence(connection: Socket): void {
    const change = (by: number) => {
      this.#present += by;
      this.#options.onPresence(this.#present > 0);
    };
    change(1);
    connection.once('close', () => change(-1));
  }
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

interface Place {
  readonly socket: string;
  /** The folder to remove with it. */
  readonly temporary?: string;
}

/** In a folder that only the user can read. Windows has no such sockets; the name of its pipe is not to be guessed. */
async function findPlace(folder: string): Promise<Place> {
  const random = randomBytes(16).toString('hex');
  if (process.platform === 'win32') return { socket: `\\\\.\\pipe\\hosted-postgres-${random}` };
  const socket = path.join(folder, `${process.pid}.sock`);
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH) {
    const temporary = await mkdtemp(path.join(tmpdir(), 'hosted-postgres-'));
    return { socket: path.join(temporary, 'agents'), temporary };
  }
  await rm(socket, { force: true });
  return { socket };
}
