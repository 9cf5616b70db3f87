/**
 * A lease keeps the local service running for a window. It is a request that stays open until the window or the service
 * ends. Its response proves that the program at the address is the service, before the key is sent there.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { directAgent, request as openRequest } from '../base/nodeHttp.ts';
import type { BaseUrl } from '../api/transport/baseUrl.ts';
import {
  isLeaseProof,
  LEASE_PROOF_HEADER,
  leaseKey,
  leaseProof,
  parsePostgresLine,
  type LeaseChallenge,
} from './leaseProof.ts';
import { findServiceAddress, findServiceOwner, type ServiceAddress } from './discover.ts';

/** The right to use the local service, which runs until its last lease ends. */
export interface Lease {
  readonly baseUrl: BaseUrl;
  /** The version of the service. */
  readonly version: ServiceAddress['version'];
  /** An API key, valid until the lease ends. */
  readonly key: string;
  /** Resolves to the reason why no compute can start, or to undefined. Rejects if the lease ends first. */
  readonly postgresProblem: Promise<string | undefined>;
  /** The signal is aborted when the service ends or the lease is released. Until then, no other program can have the service's port. */
  readonly ended: AbortSignal;
  release(): void;
  /** Lets the process end while it has the lease. */
  unref(): void;
}

/** The service responds within milliseconds, or seconds on an overloaded machine. If it takes this long, it hangs. */
const RESPONSE_TIMEOUT_MS = 10_000;

/**
 * @returns undefined if no program listens at the address, or another program does
 * @throws {LocalServiceError} if the service is silent
 */
export async function takeLease({ version, ...address }: ServiceAddress): Promise<Lease | undefined> {
  const { baseUrl } = address;
  const challenge = newChallenge(address);
  const request = openRequest(leaseUrl('window', challenge), { agent: directAgent });
  const response = await waitForResponse(request);
  if (!response || !isLeaseProof('service', challenge, response.headers[LEASE_PROOF_HEADER])) {
    request.destroy();
    return undefined;
  }
  const ending = new AbortController();
  const end = () => ending.abort(connectionLost());
  // The socket's `end` counts as well, because it comes before the response's `close`, and nothing must be sent in between.
  response.socket.once('end', end);
  response.once('close', end);
  // Reading the response, which is one short line, is needed to notice its end.
  const lines = createInterface({ input: response }).on('error', () => undefined);
  const line = new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    ending.signal.addEventListener('abort', () => reject(connectionLost()));
  });
  const postgresProblem = line.then(parsePostgresLine);
  postgresProblem.catch(() => undefined); // A caller may ignore it, and an unread failure must not end the process.
  const release = () => void request.destroy();
  return {
    baseUrl,
    version,
    key: leaseKey(challenge),
    postgresProblem,
    ended: ending.signal,
    release,
    unref: () => void response.socket.unref(),
  };
}

/**
 * Asks the service to end cleanly, although windows have leases.
 * @returns false if it refuses, as one of version 0.4 or earlier does. One that is ending already doesn't respond, so that is true
 * @throws {LocalServiceError} if the service is silent
 */
export async function requestEnd(address: ServiceAddress): Promise<boolean> {
  const url = leaseUrl('end', newChallenge(address));
  const request = openRequest(url, { method: 'DELETE', agent: directAgent });
  const response = await waitForResponse(request);
  response?.resume();
  return response === undefined || response.statusCode === 202;
}

function newChallenge({ baseUrl, leaseSecret }: ServiceAddress): LeaseChallenge {
  return { secret: leaseSecret, nonce: randomBytes(32).toString('base64url'), baseUrl };
}

function leaseUrl(purpose: 'window' | 'end', challenge: LeaseChallenge): URL {
  const url = new URL('/lease', challenge.baseUrl);
  url.searchParams.set('nonce', challenge.nonce);
  url.searchParams.set('proof', leaseProof(purpose, challenge));
  return url;
}

/**
 * Returns a lease of the running service; undefined if no service runs on the data directory.
 * @throws {LocalServiceError} if the service is silent
 */
export async function takeLeaseOfRunning(dataDir: string): Promise<Lease | undefined> {
  const owner = await findServiceOwner(dataDir);
  const address = owner && (await findServiceAddress(dataDir, owner));
  return address && (await takeLease(address));
}

/** Returns the status of a request with the key; undefined if the service has ended. @throws {LocalServiceError} */
export async function requestStatus({ baseUrl, ended }: Lease, key: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${key}` };
  const request = openRequest(`${baseUrl}/projects?limit=1`, { agent: directAgent, headers, signal: ended });
  const response = await waitForResponse(request);
  request.destroy();
  return response?.statusCode;
}

/** Sends the request. Returns undefined if the connection failed. @throws {LocalServiceError} if the service is silent */
async function waitForResponse(request: ClientRequest): Promise<IncomingMessage | undefined> {
  const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
  request.on('error', () => undefined); // `once` rejects before the response, and afterwards the response closes.
  request.end();
  try {
    const [response] = (await once(request, 'response', { signal: timeout })) as [IncomingMessage];
    return response.on('error', () => undefined);
  } catch {
    request.destroy();
    if (timeout.aborted) throw new LocalServiceError('silent', 'The local service does not respond');
    return undefined;
  }
}

/** Returns the error of a broken connection, with which pending requests fail. */
const connectionLost = (): Error =>
  Object.assign(new Error('The local service has ended'), { code: 'ECONNRESET' });

/** Returns the error that fetch throws if no program listens at the address. */
export const notRunningError = (): Error =>
  Object.assign(new Error('The local service is not running'), { code: 'ECONNREFUSED' });

/**
 * Why the local service can't be used.
 * - `noPostgres`: it has no usable Postgres; the message says why.
 * - `silent`: its process runs but doesn't respond.
 * - `otherKey`: it runs and doesn't accept the key of this window.
 * - `ended`: it ended and wasn't restarted.
 * - `revokedKey`: it needs a new key.
 */
export type LocalServiceFailure = 'silent' | 'otherKey' | 'ended' | 'revokedKey' | 'noPostgres';

/** Thrown if the local service can't be used. */
export class LocalServiceError extends Error {
  override readonly name = 'LocalServiceError';
  readonly reason: LocalServiceFailure;

  constructor(reason: LocalServiceFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}
