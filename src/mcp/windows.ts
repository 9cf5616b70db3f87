/** Passes a call to a window of VS Code, over the socket that the window's record names, or else to the local service. */
import { connect, type Socket } from 'node:net';
import { fieldsOf } from '../base/fieldsOf.ts';
import { lineOf, readLines, type BridgeCall, type BridgeRequest } from '../model/agents/bridgeMessages.ts';
import { windowsFor, type WindowRecord } from '../model/agents/windowRecords.ts';

/** Set by the extension or its launcher. */
const { HOSTED_POSTGRES_AGENTS: folder = '', HOSTED_POSTGRES_WINDOW: windowId = '' } = process.env;

/** Milliseconds. A window that hangs accepts connections, but doesn't greet. */
const MAX_WAIT = 3000;

const NO_WINDOW =
  'No window of VS Code with the Hosted Postgres extension is reachable, and no local service runs. Ask the user to open ' +
  'the project in VS Code, or to start the service.';

type Reply = { readonly result: Record<string, unknown> } | { readonly error: string };

/** @returns the answer of a window, or else of the local service, or why there is none */
export async function callWindow(call: Omit<BridgeCall, 'folder'>, signal: AbortSignal): Promise<Reply> {
  const workingFolder = currentFolder();
  for (const found of await windowsFor(folder, { pid: Number(windowId), workingFolder })) {
    const connection = await greet(found);
    if (connection !== undefined)
      return await ask(connection, { token: found.token, call: { ...call, folder: workingFolder } }, signal);
  }
  return await withoutWindow({ ...call, folder: workingFolder }, signal);
}

/** Loads most of the program's code, which other calls don't need. */
async function withoutWindow(call: BridgeCall, signal: AbortSignal): Promise<Reply> {
  try {
    const { callAlone } = await import('./alone.ts');
    const result = await callAlone(call, signal);
    return result === undefined ? { error: NO_WINDOW } : { result: { ...result } };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** Empty if it is gone, as that of a removed worktree. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

interface Connection {
  readonly socket: Socket;
  /** The lines after the greeting. */
  onLine: (line: string) => void;
}

/** Returns undefined if the window doesn't answer: it has ended without removing its record, or hangs. */
async function greet({ socket: socketPath }: WindowRecord): Promise<Connection | undefined> {
  const { promise, resolve } = Promise.withResolvers<Connection | undefined>();
  const socket = connect(socketPath);
  const connection: Connection = { socket, onLine: () => resolve(connection) };
  readLines(socket, (line) => connection.onLine(line));
  socket.on('error', () => socket.destroy());
  socket.once('close', () => resolve(undefined));
  const late = AbortSignal.timeout(MAX_WAIT);
  const giveUp = () => socket.destroy();
  late.addEventListener('abort', giveUp);
  try {
    return await promise;
  } finally {
    late.removeEventListener('abort', giveUp);
  }
}

/** A call that was sent isn't sent to another window, because it may have been carried out. */
async function ask(connection: Connection, request: BridgeRequest, signal: AbortSignal): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const { socket } = connection;
  const lost = 'The connection to VS Code ended before the answer. Check what was done before you try again.';
  connection.onLine = (line) => resolve(parseReply(line));
  socket.once('close', () => resolve({ error: lost }));
  const cancel = () => socket.destroy();
  signal.addEventListener('abort', cancel);
  socket.write(lineOf(request));
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', cancel);
    socket.destroy();
  }
}

function parseReply(line: string): Reply {
  try {
    const { result, error } = fieldsOf(JSON.parse(line));
    if (typeof error === 'string') return { error };
    return { result: { ...fieldsOf(result) } };
  } catch {
    return { error: 'VS Code sent no usable answer.' };
  }
}

/** Lets the window that started this program know that its chat has the tools already, until the program ends. */
export function holdPresence(): void {
  if (windowId === '') return;
  void windowsFor(folder, { pid: Number(windowId), workingFolder: '' }).then(async ([found]) => {
    if (found?.pid !== Number(windowId)) return;
    const connection = await greet(found);
    connection?.socket.write(lineOf({ token: found.token }));
    connection?.socket.unref();
  });
}
