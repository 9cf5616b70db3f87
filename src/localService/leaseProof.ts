/**
 * Before a window sends its key, the window and the local service prove their identity to each other. Both know the
 * secret in `service.json`, which only their user can read, and neither sends it. A proof is valid for one nonce, one
 * address and one purpose, so a program that receives one cannot use it again.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { fieldsOf } from '../base/fieldsOf.ts';

/** What a proof is about. */
export interface LeaseChallenge {
  readonly secret: string;
  /** A text that the window has chosen for this proof only. */
  readonly nonce: string;
  readonly baseUrl: string;
}

export const LEASE_PROOF_HEADER = 'x-lease-proof';

/**
 * Returns the line that is sent during a lease once the service has looked for Postgres.
 * @param problem why no compute can start, for users
 */
export const formatPostgresLine = (problem: string | undefined, extensions?: AvailableExtensions): string =>
  JSON.stringify({ problem, extensions });

/** A line for the standard input of a service, which ends it cleanly. Windows has no signal that does. */
export const END_SERVICE_LINE = 'end';

/** Names of extensions: of the Postgres that is used, and in other folders. */
export interface AvailableExtensions {
  readonly included: readonly string[];
  /** A folder with a problem isn't used. */
  readonly found: readonly {
    readonly folder: string;
    readonly names: readonly string[];
    readonly problem?: string;
  }[];
}

/** Returns the problem. @throws {SyntaxError} if the line is incomplete because the service has ended */
export function parsePostgresLine(line: string): string | undefined {
  const { problem } = fieldsOf(JSON.parse(line));
  return typeof problem === 'string' ? problem : undefined;
}

export const newLeaseSecret = (): string => randomBytes(32).toString('base64url');

/** The service or the window, which proves that it knows the secret. `end` stands for a window that wants the service to end. */
type ProofSide = 'window' | 'service' | 'end';

export const leaseProof = (by: ProofSide, { secret, nonce, baseUrl }: LeaseChallenge): string =>
  createHmac('sha256', secret).update(`${by} ${nonce} ${baseUrl}`).digest('base64url');

/** Returns an API key for the client that has proved itself. The service accepts it while that client holds the lease. */
export const leaseKey = ({ secret, nonce, baseUrl }: LeaseChallenge): string =>
  createHmac('sha256', secret).update(`key ${nonce} ${baseUrl}`).digest('base64url');

export function isLeaseProof(by: ProofSide, challenge: LeaseChallenge, proof: unknown): boolean {
  if (typeof proof !== 'string') return false;
  const [expected, actual] = [Buffer.from(leaseProof(by, challenge)), Buffer.from(proof)];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
