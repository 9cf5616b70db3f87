/**
 * How a window and the local service prove to each other that they belong together, before the window sends its key. Both
 * know the secret in `service.json`, which only their user can read, and neither sends it. A proof is valid for one
 * nonce, one address and one side, so a program that was sent one cannot use it anywhere.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface LeaseChallenge {
  readonly secret: string;
  /** Chosen by the window, and never used twice. */
  readonly nonce: string;
  readonly baseUrl: string;
}

export const LEASE_PROOF_HEADER = 'x-lease-proof';

export const newLeaseSecret = (): string => randomBytes(32).toString('base64url');

export const leaseProof = (by: 'window' | 'service', { secret, nonce, baseUrl }: LeaseChallenge): string =>
  createHmac('sha256', secret).update(`${by} ${nonce} ${baseUrl}`).digest('base64url');

export function isLeaseProof(by: 'window' | 'service', challenge: LeaseChallenge, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [expected, actual] = [Buffer.from(leaseProof(by, challenge)), Buffer.from(given)];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
