/**
 * Recognizes whether what has made a branch still runs: a process, or a thread of one, as runners with threads start for each
 * test file and terminate. A thread listens to a port, which closes with it, and is open also while the thread is blocked.
 */
import { once } from 'node:events';
import net from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { isRunning, ownIdentity, type ProcessIdentity } from '../../base/processIdentity.ts';

export interface Maker extends ProcessIdentity {
  /** Of a thread that isn't the main one. */
  readonly port?: number | undefined;
}

let ownPort: Promise<number> | undefined;

export const ownMaker = async (): Promise<Maker> => ({
  ...ownIdentity(),
  port: isMainThread ? undefined : await (ownPort ??= listen()),
});

async function listen(): Promise<number> {
  const server = net.createServer((socket) => ignoreErrors(socket).unref());
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  return (server.address() as net.AddressInfo).port;
}

export const isMakerRunning = async (maker: Maker): Promise<boolean> =>
  (await isRunning(maker)) && (maker.port === undefined || isOpen(maker.port));

/** By port. They stay, because a blocked thread has room for a limited number of new connections. */
const connections = new Map<number, Promise<net.Socket>>();

async function isOpen(port: number): Promise<boolean> {
  const connection = connections.get(port) ?? connect(port);
  connections.set(port, connection);
  return !(await connection).destroyed;
}

/** @returns a connection, or one that has ended already */
async function connect(port: number): Promise<net.Socket> {
  const socket = ignoreErrors(net.connect(port, '127.0.0.1')).once('close', () => connections.delete(port));
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  return socket.unref();
}

/** Data is read, because the end comes after it. */
const ignoreErrors = (socket: net.Socket): net.Socket => socket.on('error', () => undefined).resume();
