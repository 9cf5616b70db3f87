/** The HTTP server on 127.0.0.1. It has time limits for slow clients, and handles one request of a connection at a time. */
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../../base/nodeHttp.ts';
import { CLOSING_TIME } from '../../localService/endLimits.ts';
import { handleOneAtATime } from '../core/oneAtATime.ts';

/** Limits in milliseconds. Node replies 408 to clients that exceed the first two, and closes idle connections after the third. */
const CLIENT_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
} as const;

/** The path of the API, which ends with the version segment. */
export const API_PATH = '/api/v2';

export const baseUrlAt = (port: number): string => `http://127.0.0.1:${port}${API_PATH}`;

export interface HttpServer {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** @throws the system's error if the port is not available */
export async function startHttpServer(
  listener: RequestListener,
  port: number,
  limits: Readonly<Record<keyof typeof CLIENT_LIMITS, number>> = CLIENT_LIMITS,
): Promise<HttpServer> {
  const server = createServer(limits, handleOneAtATime(listener));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  // Later errors concern one connection (too many open files, for example), so the server keeps running.
  server.on('error', () => undefined);
  const bound = server.address() as AddressInfo;
  return { baseUrl: baseUrlAt(bound.port), close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), CLOSING_TIME);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
