/**
 * Leases keep the service running for the programs that share it. Each program holds a request open while it runs, and
 * the system closes that connection even if the program is killed. The one that starts the service holds its standard input
 * instead, so that no time limit applies until it has a lease. Without a lease for the grace time, the service ends.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  isLeaseProof,
  LEASE_PROOF_HEADER,
  leaseKey,
  leaseProof,
  newLeaseSecret,
  formatPostgresLine,
} from '../../localService/leaseProof.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { apiKeyHash } from '../controlPlane/apiKeys.ts';
import type { Clock } from '../../base/clock.ts';
import { delay } from '../core/serviceClock.ts';
import { authenticate } from './readRequest.ts';
import { baseUrlAt } from './server.ts';

interface LeasesDependencies {
  /**
   * The service ends after this many milliseconds without a lease, counted from its start or the end of the last lease.
   * Undefined: it does not end by itself.
   */
  readonly grace: number | undefined;
  readonly clock: Clock;
  readonly onNoneLeft: () => void;
}

export class Leases {
  /** The secret of leases, new at each start. See `leaseProof.ts`. */
  readonly secret = newLeaseSecret();
  readonly #deps: LeasesDependencies;
  /** The function that ends each lease, with the key of a client that has proved itself. */
  readonly #held = new Map<() => void, string | undefined>();
  #isClosed = false;
  #graceTimer: AbortController | undefined;

  constructor(deps: LeasesDependencies) {
    this.#deps = deps;
    this.#restartGrace();
  }

  /**
   * @param end called if the service ends before the lease does
   * @param key see `leaseKey`
   * @returns a function that releases the lease; further calls do nothing
   */
  hold(end: () => void, key?: string): () => void {
    this.#held.set(end, key);
    this.#restartGrace();
    return () => {
      if (this.#held.delete(end)) this.#restartGrace();
    };
  }

  /** Whether this is the key of a lease that is held. Hashes are compared, because the time that `===` takes depends on the texts. */
  hasKey(key: string): boolean {
    return [...this.#held.values()].some(
      (held) => held !== undefined && apiKeyHash(held) === apiKeyHash(key),
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#restartGrace();
    for (const end of this.#held.keys()) end();
  }

  #restartGrace(): void {
    this.#graceTimer?.abort();
    const { grace, clock, onNoneLeft } = this.#deps;
    if (grace === undefined || this.#held.size > 0 || this.#isClosed) return;
    const { signal } = (this.#graceTimer = new AbortController());
    void delay(clock, grace, signal).then(() => {
      if (!signal.aborted) onNoneLeft();
    });
  }
}

/**
 * Accepts clients with a key, and clients that prove that they know the lease secret. These get the service's proof in
 * return, and have a key until the lease ends.
 * @throws {HttpError} 401
 */
export function holdLease(
  leases: Leases,
  plane: ControlPlane,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { secret } = leases;
  const baseUrl = baseUrlAt(request.socket.localPort ?? 0);
  const challenge = { secret, nonce: query.get('nonce') ?? '', baseUrl };
  const isProved = isLeaseProof('window', challenge, query.get('proof'));
  if (!isProved) authenticate(request, plane.keys);
  const release = leases.hold(() => response.end(), isProved ? leaseKey(challenge) : undefined);
  response.once('close', release);
  response.writeHead(200, {
    'content-type': 'text/plain',
    'cache-control': 'no-store',
    ...(isProved ? { [LEASE_PROOF_HEADER]: leaseProof('service', challenge) } : {}),
  });
  response.flushHeaders();
  void plane.postgresProblem.then((problem) => {
    // By then, the service may be ending.
    if (!response.writableEnded) response.write(`${formatPostgresLine(problem)}\n`);
  });
}
