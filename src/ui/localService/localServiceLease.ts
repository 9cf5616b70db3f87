/**
 * A lease keeps the local service running for a window: a request that stays open, and that the system ends with the
 * window or with the service. It also proves who answers at the address, before anything secret is sent there.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type ClientRequest, type IncomingMessage } from 'node:http';
import type { BaseUrl } from '../../api/baseUrl.ts';
import { isLeaseProof, LEASE_PROOF_HEADER, leaseProof } from '../../api/leaseProof.ts';
import { LocalServiceError } from './localServiceError.ts';
import type { ServiceAddress } from './localServiceFiles.ts';

export interface Lease {
  readonly baseUrl: BaseUrl;
  /** Aborted when the service has ended or the lease was released. Until then no other program has its port. */
  readonly ended: AbortSignal;
  release(): void;
}

/** Milliseconds. The service answers within one, so one that takes this long hangs. */
const ANSWER_WITHIN = 5_000;

/**
 * @returns undefined when no program answers there, or one that is not the service
 * @throws {LocalServiceError} silent
 */
export async function takeLease({ baseUrl, leaseSecret }: ServiceAddress): Promise<Lease | undefined> {
  const challenge = { secret: leaseSecret, nonce: randomBytes(32).toString('base64url'), baseUrl };
  const url = new URL('/lease', baseUrl);
  url.searchParams.set('nonce', challenge.nonce);
  url.searchParams.set('proof', leaseProof('window', challenge));
  const request = get(url, { agent: false });
  const response = await responseTo(request);
  if (!isLeaseProof('service', challenge, response?.headers[LEASE_PROOF_HEADER])) {
    request.destroy();
    return undefined;
  }
  const ending = new AbortController();
  const end = () => ending.abort(connectionLost());
  // Sooner than the response's `close`: nothing may be sent in between.
  response?.socket.once('end', end);
  response?.once('close', end).resume();
  return { baseUrl, ended: ending.signal, release: () => request.destroy() };
}

/** The status of a request with the key, which the service may not know; undefined when it has just ended. @throws {LocalServiceError} silent */
export async function statusWithKey({ baseUrl, ended }: Lease, key: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${key}` };
  const request = get(`${baseUrl}/projects?limit=1`, { agent: false, headers, signal: ended });
  const response = await responseTo(request);
  request.destroy();
  return response?.statusCode;
}

/** Undefined when the connection failed. @throws {LocalServiceError} silent */
async function responseTo(request: ClientRequest): Promise<IncomingMessage | undefined> {
  const timeout = AbortSignal.timeout(ANSWER_WITHIN);
  request.on('error', () => undefined); // Comes after the response, too: `ended` reports that.
  try {
    const [response] = (await once(request, 'response', { signal: timeout })) as [IncomingMessage];
    return response.on('error', () => undefined);
  } catch {
    request.destroy();
    if (timeout.aborted) throw new LocalServiceError('silent', 'The local service does not answer');
    return undefined;
  }
}

/** To those that wait for an answer it is what it is to the system: a connection that broke. */
const connectionLost = (): Error =>
  Object.assign(new Error('The local service has ended'), { code: 'ECONNRESET' });
