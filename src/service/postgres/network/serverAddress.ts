/**
 * Where a server listens: on a Unix socket in a folder that only its account can enter, and on loopback for clients that
 * use TLS, which Postgres does not offer on Unix sockets. On Windows on loopback only, because Node does not support Unix
 * sockets there. Both require a password (SCRAM), because the gateway forwards connections of other users.
 */
import path from 'node:path';
import type { Storage } from '../data/storage.ts';
import { freePorts } from './freePorts.ts';

export interface ServerAddress {
  /** The folder of its Unix socket. None on Windows. */
  readonly folder: string | undefined;
  /** On 127.0.0.1. It is also in the name of the socket. */
  readonly port: number;
}

/**
 * The address of a server, by the id of its branch for a primary (read replicas connect to it), by the id of its compute
 * for a replica. The same at each call, unless another program took the port (see `launchServer.ts`).
 */
export async function addressOf(storage: Storage, name: string): Promise<ServerAddress> {
  const { loopbackPorts } = storage;
  const port = loopbackPorts.get(name) ?? (await freePorts(new Set(loopbackPorts.values()))).port;
  loopbackPorts.set(name, port);
  return { folder: process.platform === 'win32' ? undefined : storage.socketFolder(name), port };
}

export type ServerSocket = { readonly path: string } | { readonly host: string; readonly port: number };

/** For `net.connect`, without TLS. */
export const plainSocket = ({ folder, port }: ServerAddress): ServerSocket =>
  folder === undefined ? tlsSocket({ port }) : { path: path.join(folder, `.s.PGSQL.${port}`) };

/** For `net.connect`, with TLS. */
export const tlsSocket = ({ port }: Pick<ServerAddress, 'port'>): ServerSocket => ({
  host: '127.0.0.1',
  port,
});

/** For libpq, without TLS. */
export const hostAndPort = ({ folder, port }: ServerAddress): { host: string; port: number } => ({
  host: folder ?? '127.0.0.1',
  port,
});

export const listenArguments = ({ folder, port }: ServerAddress): string[] => [
  '-c',
  'listen_addresses=127.0.0.1',
  '-c',
  `unix_socket_directories=${folder ?? ''}`,
  '-c',
  `port=${port}`,
];
