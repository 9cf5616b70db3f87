/**
 * Where a server process itself listens. It is a Unix socket in a folder that only its account can enter; on Windows,
 * loopback. Both ask for a password (SCRAM), since the gateway passes strangers' connections through to it.
 */
import path from 'node:path';

export type ServerAddress =
  { readonly kind: 'socket'; readonly folder: string } | { readonly kind: 'loopback'; readonly port: number };

/** The port in the name of a Unix socket; each lies in a folder of its own. */
const SOCKET_PORT = 5432;

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
