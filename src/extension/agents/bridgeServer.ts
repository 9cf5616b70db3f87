/** The window's end of the bridge: a socket that only this user can open, and a secret that each request must have. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { leaseProof } from '../../localService/leaseProof.ts';
import type { Disposable } from '../../base/disposable.ts';
import { replaceFile } from '../../base/replaceFile.ts';
import {
  BridgeChallenge,
  BridgeRequest,
  toMessageLine,
  readLines,
  type BridgeCall,
} from './bridgeMessages.ts';
import { windowRecordFile, removeStaleRecords, type WindowRecord } from './windowRecords.ts';

interface BridgeOptions {
  /** The folder for the records of all windows. */
  readonly folder: string;
  /** Calls a tool. @throws {Error} with a sentence for the model */
  readonly call: (call: BridgeCall, signal: AbortSignal) => Promise<object>;
  /** Called with whether an MCP program is connected that VS Code has started for this window. */
  readonly onPresence: (isPresent: boolean) => void;
}

/** The most characters of a request. */
const MAX_REQUEST = 1024 * 1024;
/** The most bytes of a socket's path. Longer ones are cut off on macOS, and rejected on Linux. */
const MAX_SOCKET_PATH = 100;

export interface BridgeServer extends Disposable {
  /**
   * Publishes the folders of the window. Call this when the window gets the focus, too, because agents that work outside of all
   * workspaces reach the window that was used last.
   */
  publish(folders: readonly string[]): Promise<void>;
}

/** Begins to listen. @throws {Error} if there can be no socket, or no file for it */
export async function startBridge(options: BridgeOptions, folders: readonly string[]): Promise<BridgeServer> {
  const { folder } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  await removeStaleRecords(folder);
  const { socket, temporary } = await chooseSocket(folder);
  const token = randomBytes(32).toString('hex');
  const connections = new Set<Socket>();
  let present = 0;
  const countPresence = (connection: Socket) => {
    present += 1;
    options.onPresence(true);
    connection.once('close', () => options.onPresence((present -= 1) > 0));
  };
  const server = createServer((connection) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    serveConnection(connection, { socket, token }, { call: options.call, countPresence });
  });
  const record = windowRecordFile(folder, process.pid);
  let isDisposed = false;
  let published = Promise.resolve();
  // The record is written by one call after the other, because the folders of the last call count.
  const publish = (open: readonly string[]) => {
    const text = JSON.stringify({ socket, token, folders: open });
    const write = async () => {
      if (!isDisposed) await replaceFile(record, text, { mode: 0o600 });
      if (isDisposed) rmSync(record, { force: true });
    };
    const written = published.then(write);
    published = written.catch(() => undefined);
    return written;
  };
  const dispose = () => {
    isDisposed = true;
    server.close();
    for (const connection of connections) connection.destroy();
    rmSync(record, { force: true });
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  };
  try {
    await listenAt(server, socket);
    await publish(folders);
  } catch (error) {
    dispose();
    throw error;
  }
  return { publish, dispose };
}

async function listenAt(server: Server, socket: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Later errors change nothing, because the promise is settled.
  server.on('error', reject).listen(socket, resolve);
  await promise;
  // The server doesn't keep a closing window's process alive.
  server.unref();
  if (process.platform !== 'win32') chmodSync(socket, 0o600);
}

/**
 * Serves one request of a connection, before which the client may ask for a proof that this is the window. Without the right
 * token, the connection ends.
 */
function serveConnection(
  connection: Socket,
  { socket, token }: Pick<WindowRecord, 'socket' | 'token'>,
  handlers: Pick<BridgeOptions, 'call'> & { readonly countPresence: (connection: Socket) => void },
): void {
  const controller = new AbortController();
  connection.on('error', () => connection.destroy());
  connection.once('close', () => controller.abort());
  let hasProved = false;
  let hasAsked = false;
  const handle = (line: string) => {
    const nonce = hasProved ? undefined : parseNonce(line);
    if (nonce !== undefined) {
      hasProved = true;
      connection.write(
        toMessageLine({ proof: leaseProof('window', { secret: token, nonce, baseUrl: socket }) }),
      );
      return;
    }
    const request = hasAsked ? undefined : parseRequest(line, token);
    hasAsked = true;
    if (request === undefined) return void connection.destroy();
    if (request.call === undefined) return handlers.countPresence(connection);
    const reply = handlers.call(request.call, controller.signal).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    void reply.then((sent) => connection.end(toMessageLine(sent)));
  };
  readLines(connection, handle, () => MAX_REQUEST);
  // MCP servers of earlier versions wait for this greeting.
  connection.write(toMessageLine({}));
}

function parseNonce(line: string): string | undefined {
  try {
    return BridgeChallenge.parse(JSON.parse(line)).nonce;
  } catch {
    return undefined;
  }
}

/** Returns undefined for a line that isn't a request, or has another token. */
function parseRequest(line: string, token: string): BridgeRequest | undefined {
  try {
    const request = BridgeRequest.parse(JSON.parse(line));
    return timingSafeEqual(hashOfToken(request.token), hashOfToken(token)) ? request : undefined;
  } catch {
    return undefined;
  }
}

const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();

interface Place {
  readonly socket: string;
  /** The folder to remove with the socket. */
  readonly temporary?: string;
}

/**
 * Returns a socket in a folder that only the user can read. Windows has no such sockets, so its pipe has a name that
 * can't be guessed.
 */
async function chooseSocket(folder: string): Promise<Place> {
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
