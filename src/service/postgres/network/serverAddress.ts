/**
 * Where a server listens: on a Unix socket in a folder that only its account can enter, on Windows on loopback. Both require
 * a password (SCRAM), because the gateway forwards connections of other users.
 */
import path from 'node:path';
import type { Storage } from '../data/storage.ts';
import { freePorts } from './freePorts.ts';

export type ServerAddress =
  { readonly kind: 'socket'; readonly folder: string } | { readonly kind: 'loopback'; readonly port: number };

/** The port in the name of a Unix socket. Each socket has a separate folder. */
const SOCKET_PORT = 5432;

/**
 * The address of a server, by the id of its branch for a primary (read replicas connect to it), by the id of its compute
 * for a replica. The same at each call.
 */
export async function addressOf(storage: Storage, name: string): Promise<ServerAddress> {
  if (process.platform !== 'win32') return { kind: 'socket', folder: storage.socketFolder(name) };
  // Node does not support Unix sockets on Windows.
  const port =
    storage.loopbackPorts.get(name) ?? (await freePorts(new Set(storage.loopbackPorts.values()))).port;
  storage.loopbackPorts.set(name, port);
  return { kind: 'loopback', port };
}

/** For `net.connect`. */
export function socketAddress(address: ServerAddress): { path: string } | { host: string; port: number } {
  return address.kind === 'socket'
    ? { path: path.join(address.folder, `.s.PGSQL.${SOCKET_PORT}`) }
    : { host: '127.0.0.1', port: address.port };
}

/** For libpq and the server's settings. */
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
