/** Passes a call to a window of VS Code, over the socket that the window's record names, or else to the local service. */
import { connect } from 'node:net';
import { fieldsOf } from '../base/fieldsOf.ts';
import { lineOf, readLines, type BridgeCall } from '../model/agents/bridgeMessages.ts';
import { windowsFor, type WindowRecord } from '../model/agents/windowRecords.ts';

/** Set by the extension or its launcher. */
const { HOSTED_POSTGRES_AGENTS: folder = '', HOSTED_POSTGRES_WINDOW: windowId = '' } = process.env;

/** Milliseconds. A window that hangs accepts connections, but doesn't greet. */
const MAX_WAIT = 3000;

/** @returns the answer of a window, or else of the local service @throws {Error} with a sentence for the model */
export async function callTool(
  call: Omit<BridgeCall, 'folder'>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const workingFolder = currentFolder();
  const request = { ...call, folder: workingFolder };
  for (const found of await windowsFor(folder, { pid: Number(windowId), workingFolder })) {
    const reply = await ask(found, request, signal);
    signal.throwIfAborted();
    if (reply === undefined) continue;
    const { result, error } = fieldsOf(JSON.parse(reply));
    if (typeof error === 'string') throw new Error(error);
    return fieldsOf(result);
  }
  // Loads what the other calls don't need.
  const { callAlone } = await import('./alone.ts');
  const result = await callAlone(request, signal);
  if (result === undefined)
    throw new Error(
      'No window of VS Code with the Hosted Postgres extension is reachable, and no local service runs. Ask the user to open ' +
        'the project in VS Code, or to start the service.',
    );
  return fieldsOf(result);
}

/** Returns undefined if it is gone, as that of a removed worktree. */
function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/**
 * Returns undefined if the window doesn't greet: it has ended without removing its record, or hangs. A call that was sent
 * isn't sent to another window, because it may have been carried out.
 */
async function ask(
  { socket: address, token }: WindowRecord,
  call: BridgeCall,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const socket = connect(address);
  const end = () => socket.destroy();
  const timer = setTimeout(end, MAX_WAIT);
  let isSent = false;
  readLines(socket, (line) => {
    if (isSent) return resolve(line);
    isSent = true;
    clearTimeout(timer);
    socket.write(lineOf({ token, call }));
  });
  const lost = 'The connection to VS Code ended before the answer. Check what was done before you try again.';
  socket.on('error', end);
  socket.once('close', () => (isSent ? reject(new Error(lost)) : resolve(undefined)));
  signal.addEventListener('abort', end);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Lets the window that started this program know that its chat has the tools already, until the program ends. */
export async function holdPresence(): Promise<void> {
  if (windowId === '') return;
  const [found] = await windowsFor(folder, { pid: Number(windowId) });
  if (found?.pid !== Number(windowId)) return;
  const socket = connect(found.socket);
  socket.on('error', () => socket.destroy());
  socket.write(lineOf({ token: found.token }));
  socket.resume().unref();
}
