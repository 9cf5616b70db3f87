/**
 * Where a server listens: on a Unix socket in a folder that only its account can enter, and on loopback for clients that use TLS,
 * which Postgres does not offer on Unix sockets. On Windows, it listens on loopback only, because Node does not support Unix
 * sockets there. Both require a password (SCRAM), because the gateway forwards connections of other users.
 */
import { randomInt } from 'node:crypto';
import net from 'node:net';
import path from 'node:path';
import { EngineError, type ComputeAddress } from '../../core/computeEngine.ts';
import type { EngineStorage } from '../storage/storage.ts';

/** Where a server can be reached. */
export interface ServerAddress {
  /** The host for libpq and `pg`, without TLS: the folder of its Unix socket, or {@link LOOPBACK} on Windows. */
  readonly host: string;
  /** The port on 127.0.0.1. It is also in the name of the socket. */
  readonly port: number;
}

/**
 * Returns the address of a server, by the id of its branch for a primary (read replicas connect to it), by the id of its compute
 * for a replica. It is the same at each call, unless another program took the port (see `launchServer.ts`).
 */
export async function allocateServerAddress(storage: EngineStorage, name: string): Promise<ServerAddress> {
  const { loopbackPorts } = storage;
  const found = loopbackPorts.get(name) ?? (await chooseFreePort(new Set(loopbackPorts.values())));
  // Another call may have chosen a port in the meantime.
  const port = loopbackPorts.get(name) ?? found;
  loopbackPorts.set(name, port);
  return { host: process.platform === 'win32' ? LOOPBACK : storage.socketFolder(name), port };
}

export const LOOPBACK = '127.0.0.1';

/** Returns the options of `net.connect` for a connection without TLS. */
export const plainSocketOptions = ({ host, port }: ServerAddress): net.NetConnectOpts =>
  host === LOOPBACK ? { host, port } : { path: path.join(host, `.s.PGSQL.${port}`) };

/** Returns the options of `net.connect` for a connection with TLS. */
export const tlsSocketOptions = ({ port }: ServerAddress): net.NetConnectOpts => ({ host: LOOPBACK, port });

/** Returns a connection string for libpq. */
export const libpqConnectionString = (parameters: Readonly<Record<string, string | number>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}='${String(value).replaceAll(/['\\]/g, String.raw`\$&`)}'`)
    .join(' ');

/**
 * The first port of computes. All are below the range for outgoing connections (from 32768 on Linux), so that they are likely to be
 * free when the service starts again.
 */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
const PORT_ATTEMPTS = 1000;

/**
 * Each process looks first in a part of the range that few others have: two services that start at the same time could both
 * find a port free and only then use it.
 */
const SLICES = 16;
const SLICE = Math.floor((LAST_PORT - FIRST_PORT) / SLICES);
const OWN_FIRST = FIRST_PORT + (process.pid % SLICES) * SLICE;

/** The ports tried last. The caller that got one may not listen on it yet, so it still looks free. */
const triedLast: number[] = [];
const REMEMBERED = SLICE / 2;

/** Chooses a port of 127.0.0.1 that is free, not in `taken`, and not tried lately. @throws {EngineError} if it finds no such port */
export async function chooseFreePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt += 1) {
    const isOwnPart = attempt < PORT_ATTEMPTS / 2;
    const port = isOwnPart ? randomInt(OWN_FIRST, OWN_FIRST + SLICE) : randomInt(FIRST_PORT, LAST_PORT);
    if (taken.has(port) || triedLast.includes(port)) continue;
    triedLast.push(port);
    if (triedLast.length > REMEMBERED) triedLast.shift();
    if (await isPortFree(port)) return port;
  }
  throw new EngineError('No free ports on 127.0.0.1');
}

/** @throws {EngineError} if there are not enough free ports */
export const chooseFreeAddress = async (taken?: ReadonlySet<number>): Promise<ComputeAddress> => ({
  port: await chooseFreePort(taken),
  poolerPort: await chooseFreePort(taken),
});

async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, LOOPBACK, () => server.close(() => resolve(true)));
  });
}
