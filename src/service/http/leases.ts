/**
 * Leases keep the service running for the programs that share it. Each program holds a request open while it runs, and the system
 * closes that connection even if the program is killed. The program that starts the service holds the service's standard input
 * instead, so that no time limit applies until the program has a lease. Without a lease for the grace time, the service ends.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  isLeaseProof,
  LEASE_PROOF_HEADER,
  leaseKey,
  leaseProof,
  newLeaseSecret,
  formatPostgresLine,
  type LeaseChallenge,
} from '../../localService/leaseProof.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { apiKeyHash } from '../controlPlane/apiKeys.ts';
import type { Clock } from '../../base/clock.ts';
import { delay } from '../core/serviceClock.ts';
import { HttpError } from '../core/serviceErrors.ts';
import { authenticate } from './readRequest.ts';
import { jsonReply, type JsonReply } from './response.ts';
import { baseUrlAt } from './server.ts';

interface LeasesDependencies {
  /**
   * The service ends after this many milliseconds without a lease, counted from its start or the end of the last lease.
   * Undefined if the service doesn't end by itself.
   */
  readonly grace: number | undefined;
  readonly clock: Clock;
  readonly onEnd: () => void;
}

/** Counts leases, and ends the service without one. */
export class Leases {
  /** The secret of leases, new at each start. See `leaseProof.ts`. */
  readonly secret = newLeaseSecret();
  readonly #deps: LeasesDependencies;
  /** The functions that end the leases, each with the client's key if the client has proved its identity. */
  readonly #held = new Map<() => void, string | undefined>();
  #isClosed = false;
  #graceTimer: AbortController | undefined;

  constructor(deps: LeasesDependencies) {
    this.#deps = deps;
    this.#updateGraceTimer();
  }

  /**
   * Begins a lease.
   * @param end called if the service ends before the lease does
   * @param key see `leaseKey`
   * @returns a function that releases the lease; further calls do nothing
   */
  hold(end: () => void, key?: string): () => void {
    this.#held.set(end, key);
    this.#updateGraceTimer();
    return () => {
      if (this.#held.delete(end)) this.#updateGraceTimer();
    };
  }

  /** Whether this is the key of a lease that is held. Hashes are compared, because the time that `===` takes depends on the texts. */
  hasKey(key: string): boolean {
    return [...this.#held.values()].some(
      (held) => held !== undefined && apiKeyHash(held) === apiKeyHash(key),
    );
  }

  /** Ends the service, although there may be leases. */
  requestEnd(): void {
    this.#deps.onEnd();
  }

  close(): void {
    this.#isClosed = true;
    this.#graceTimer?.abort();
    for (const end of this.#held.keys()) end();
  }

  /** Begins the grace time if there is no lease, and ends it otherwise. */
  #updateGraceTimer(): void {
    this.#graceTimer?.abort();
    const { grace, clock, onEnd } = this.#deps;
    if (grace === undefined || this.#held.size > 0 || this.#isClosed) return;
    const { signal } = (this.#graceTimer = new AbortController());
    void delay(clock, grace, signal).then(() => {
      if (!signal.aborted) onEnd();
    });
  }
}

/** Returns what a program and the service prove to each other. Programs choose the nonce. */
const challengeOf = (
  { secret }: Leases,
  query: URLSearchParams,
  { socket }: IncomingMessage,
): LeaseChallenge => ({
  secret,
  nonce: query.get('nonce') ?? '',
  baseUrl: baseUrlAt(socket.localPort ?? 0),
});

/** Ends the service if the client proves that it knows the lease secret. @throws {HttpError} 401 */
export function endForProof(leases: Leases, query: URLSearchParams, request: IncomingMessage): JsonReply {
  if (!isLeaseProof('end', challengeOf(leases, query, request), query.get('proof')))
    throw new HttpError(401, 'UNAUTHORIZED', 'The proof is missing or wrong.');
  leases.requestEnd();
  return jsonReply({}, 202);
}

/**
 * Begins a lease for a client with a key, or for one that proves that it knows the lease secret. In return, that client gets the
 * service's proof, and has a key until the lease ends.
 * @throws {HttpError} 401
 */
export function holdLease(
  leases: Leases,
  plane: ControlPlane,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const challenge = challengeOf(leases, query, request);
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
