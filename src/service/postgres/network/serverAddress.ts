/**
 * Where a server process itself listens. It is a Unix socket in a folder that only its account can enter; on Windows,
 * loopback. Both ask for a password (SCRAM), since the gateway passes strangers' connections through to it.
 */
import path from 'node:path';
import type { Storage } from '../data/storage.ts';
import { freePorts } from './freePorts.ts';

export type ServerAddress =
  { readonly kind: 'socket'; readonly folder: string } | { readonly kind: 'loopback'; readonly port: number };

/** The port in the name of a Unix socket; each lies in a folder of its own. */
const SOCKET_PORT = 5432;

/**
 * Where a server listens, by the name of what it serves: a primary by its branch, since read replicas look for it there; a
 * replica by its compute. The same at every call.
 */
export async function addressOf(storage: Storage, name: string): Promise<ServerAddress> {
  if (process.platform !== 'win32') return { kind: 'socket', folder: storage.socketFolder(name) };
  // Node knows no Unix sockets on Windows.
  const port =
    storage.loopbackPorts.get(name) ?? (await freePorts(new Set(storage.loopbackPorts.values()))).port;
  storage.loopbackPorts.set(name, port);
  return { kind: 'loopback', port };
}

/** What `net.connect` takes. */
export function socketAddress(address: ServerAddress): { path: string } | { host: string; port: number } {
  return address.kind === 'socket'
    ? { path: path.join(address.folder, `.s.PGSQL.${SOCKET_PORT}`) }
    : { host: '127.0.0.1', port: address.port };
}

/** Host and port as libpq and the server's own settings take them. */
export function hostAndPort(address: ServerAddress): { host: string; port: number } {
  return address.kind === 'socket'
    ? { host: address.folder, port: SOCKET_PORT }
    : { host: '127.0.0.1', port: address.port };
}

export function listenArguments(address: ServerAddress): string[] {
  const { host, port } = hostAndPort(address);
  return address.kind === 'socket'
    ? ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${host}`, '-c', `port=${port}`]
    : ['-c', `listen_addresses=${host}`, '-c', 'unix_socket_directories=', '-c', `port=${port}`];
}
