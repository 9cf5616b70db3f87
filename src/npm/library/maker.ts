/**
 * Finds out whether the maker of a branch or database still runs. A maker is a process or a thread: some runners start a thread for each
 * test file, and terminate it. A thread listens on a port, which is open even while the thread is blocked, and closes when it ends.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { fieldsOfJson } from '../../base/fieldsOf.ts';
import {
  identityIn,
  isRunning,
  ownIdentity,
  uniqueProcessId,
  type ProcessIdentity,
} from '../../base/processIdentity.ts';

/** The process or thread that has created a database, so that others can ask whether it still runs. */
export interface DatabaseMaker extends ProcessIdentity {
  /** The port of a thread that isn't the main one. */
  readonly port?: number | undefined;
}

/**
 * Returns a part for the names of databases. The maker is in the name, because a name can't be changed while the database is in
 * use, and needs no further statement.
 */
export const encodeMaker = ({ pid, port = 0, startedAt, uniqueId }: DatabaseMaker): string =>
  [...[pid, port, Math.round(startedAt)].map((each) => each.toString(36)), shortHash(uniqueId)].join('_');

/** A regular expression that matches what {@link encodeMaker} returns. */
export const MAKER_PATTERN = '[0-9a-z]+_[0-9a-z]+_[0-9a-z]+_[0-9a-f]*';

/** @param encoded what {@link encodeMaker} returned, without the rest of the database's name */
export function decodeMaker(encoded: string): DatabaseMaker {
  const [id = '', port = '', start = '', unique = ''] = encoded.split('_');
  const [pid, startedAt] = [parseInt(id, 36), parseInt(start, 36)];
  // The name has only a hash of the unique id, because it has no room for more.
  const now = uniqueProcessId(pid);
  const uniqueId = unique === '' ? undefined : unique === shortHash(now) ? now : unique;
  return { pid, startedAt, uniqueId, port: parseInt(port, 36) || undefined };
}

/** Returns the maker of the database of a test file, or of its clone, by its name; undefined for another database. */
export function makerOfDatabase(name: string): DatabaseMaker | undefined {
  const encoded = new RegExp(`^test_(${MAKER_PATTERN})_[0-9a-f]{8}`).exec(name)?.[1];
  return encoded === undefined ? undefined : decodeMaker(encoded);
}

/**
 * Returns the maker that an annotation names; undefined for an annotation of another program, which names none.
 * @param json {@link DatabaseMaker} as JSON
 */
export function parseMaker(json: string): DatabaseMaker | undefined {
  const fields = fieldsOfJson(json);
  const identity = identityIn(fields);
  if (fields['port'] === undefined) return identity;
  const port = Number(fields['port']);
  const isPort = Number.isInteger(port) && port > 0 && port < 65_536;
  return isPort ? identity && { ...identity, port } : undefined;
}

const shortHash = (text: string | undefined): string =>
  text === undefined ? '' : createHash('sha256').update(text).digest('hex').slice(0, 12);

let ownPort: Promise<number> | undefined;

export const describeOwnMaker = async (): Promise<DatabaseMaker> => ({
  ...ownIdentity(),
  port: isMainThread ? undefined : await (ownPort ??= listenOnFreePort()),
});

/** Listens until this thread ends, so that others see by the open port whether it still runs. @returns the port */
async function listenOnFreePort(): Promise<number> {
  const server = net.createServer((socket) => ignoreErrors(socket).unref());
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  return (server.address() as net.AddressInfo).port;
}

export const isMakerRunning = async (maker: DatabaseMaker): Promise<boolean> =>
  (await isRunning(maker)) && (maker.port === undefined || isPortOpen(maker.port));

/** The connections by port. They stay open, because a blocked thread accepts no connections, and only few can wait for that. */
const connections = new Map<number, Promise<net.Socket>>();

async function isPortOpen(port: number): Promise<boolean> {
  const connection = connections.get(port) ?? connectToThread(port);
  connections.set(port, connection);
  return !(await connection).destroyed;
}

/** Returns a connection, which has ended already if the thread has. */
async function connectToThread(port: number): Promise<net.Socket> {
  const socket = ignoreErrors(net.connect(port, '127.0.0.1')).once('close', () => connections.delete(port));
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  return socket.unref();
}

/** Ignores the errors of a socket, and reads its data, because a socket closes only after its data was read. */
const ignoreErrors = (socket: net.Socket): net.Socket => socket.on('error', () => undefined).resume();
