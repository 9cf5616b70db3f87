/** Passes a call to a window of VS Code, over the socket that the window's record names, or else to the local service. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { isLeaseProof } from '../localService/leaseProof.ts';
import { fieldsOf } from '../base/fieldsOf.ts';
import {
  BridgeProof,
  toMessageLine,
  readLines,
  type BridgeCall,
  type BridgeRequest,
} from '../extension/agents/bridgeMessages.ts';
import { findWindows, type WindowRecord } from '../extension/agents/windowRecords.ts';

/** Variables that the extension or its launcher has set. */
const { HOSTED_POSTGRES_AGENTS: folder = '', HOSTED_POSTGRES_WINDOW: windowId = '' } = process.env;

/** Milliseconds that a window has to prove itself. One that hangs accepts connections, but doesn't reply. */
const PROOF_WAIT = 3000;
/** The most characters of a line from a window that has not proved itself. */
const MAX_UNPROVED = 1000;

/** Returns the answer of a window, or else of the local service. @throws {Error} with a sentence for the model */
export async function callToolInWindow(
  call: Omit<BridgeCall, 'folder'>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const workingFolder = currentFolder();
  const request = { ...call, folder: workingFolder };
  for (const found of await findWindows(folder, { pid: Number(windowId), workingFolder })) {
    const reply = await askWindow(found, request, signal);
    signal.throwIfAborted();
    if (reply === undefined) continue;
    const { result, error } = fieldsOf(JSON.parse(reply));
    if (typeof error === 'string') throw new Error(error);
    return fieldsOf(result);
  }
  // This import loads what the other calls don't need.
  const { callWithoutWindow } = await import('./withoutWindow.ts');
  const result = await callWithoutWindow(request, signal);
  if (result === undefined)
    throw new Error(
      'No window of VS Code with the Hosted Postgres extension is reachable, and no local service runs. Ask the user to open ' +
        'the project in VS Code, or to start the service.',
    );
  return fieldsOf(result);
}

/** Returns undefined if the folder is gone, such as that of a removed worktree. */
function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/**
 * Asks a window to carry out a call. A call that was sent isn't sent to another window, because it may have been carried out.
 * @returns undefined if the window doesn't prove itself: it has ended without removing its record, or hangs
 */
async function askWindow(
  found: WindowRecord,
  call: BridgeCall,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  let isSent = false;
  const socket = sendToWindow(found, { token: found.token, call }, () => (isSent = true), resolve);
  const lost = 'The connection to VS Code ended before the answer. Check what was done before you try again.';
  socket.once('close', () => (isSent ? reject(new Error(lost)) : resolve(undefined)));
  const end = () => socket.destroy();
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Sends the request once the window has proved itself. Ends the connection if it doesn't in time. */
function sendToWindow(
  { socket: address, token }: WindowRecord,
  request: BridgeRequest,
  onSent: () => void,
  onReply: (line: string) => void,
): Socket {
  const socket = connect(address);
  const end = () => socket.destroy();
  const timer = setTimeout(end, PROOF_WAIT);
  const challenge = { secret: token, nonce: randomBytes(16).toString('hex'), baseUrl: address };
  let isSent = false;
  const handleLine = (line: string) => {
    if (isSent) return onReply(line);
    const proof = parseProof(line);
    if (proof === undefined) return;
    if (!isLeaseProof('window', challenge, proof)) return end();
    isSent = true;
    clearTimeout(timer);
    onSent();
    socket.write(toMessageLine(request));
  };
  readLines(socket, handleLine, () => (isSent ? Infinity : MAX_UNPROVED));
  socket.on('error', end).once('close', () => clearTimeout(timer));
  socket.write(toMessageLine({ nonce: challenge.nonce }));
  return socket;
}

/** Returns the proof in a line of the window; undefined if the line is the window's greeting. */
function parseProof(line: string): string | undefined {
  try {
    return BridgeProof.parse(JSON.parse(line)).proof;
  } catch {
    return undefined;
  }
}

/** Tells the window that started this program that its chat already has the tools. That is true until the program ends. */
export async function holdPresence(): Promise<void> {
  if (windowId === '') return;
  const [found] = await findWindows(folder, { pid: Number(windowId) });
  if (found?.pid !== Number(windowId)) return;
  const ignore = () => undefined;
  sendToWindow(found, { token: found.token }, ignore, ignore).unref();
}
