/**
 * Before a window sends its key, the window and the local service prove their identity to each other. Both know the
 * secret in `service.json`, which only their user can read, and neither sends it. A proof is valid for one nonce, one
 * address and one side, so a program that receives one cannot use it again.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface LeaseChallenge {
  readonly secret: string;
  /** Chosen by the window for this proof only. */
  readonly nonce: string;
  readonly baseUrl: string;
}

export const LEASE_PROOF_HEADER = 'x-lease-proof';

/**
 * The lines of a lease's response. The one about Postgres follows as soon as the service knows; `problem` is why no compute
 * can start, for users.
 */
export const LEASE_HELD = 'held';
export const postgresLine = (problem: string | undefined): string =>
  JSON.stringify({ postgres: problem === undefined ? 'found' : 'missing', problem });

/** In characters. The service sends no longer lines. */
export const MAX_LEASE_LINE = 65_536;

/** Returns undefined for other lines. */
export function parsePostgresLine(line: string): { readonly problem: string | undefined } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined; // `held`, for example.
  }
  if (typeof value !== 'object' || value === null || !('postgres' in value)) return undefined;
  return { problem: 'problem' in value && typeof value.problem === 'string' ? value.problem : undefined };
}

export const newLeaseSecret = (): string => randomBytes(32).toString('base64url');

type Side = 'window' | 'service';

export const leaseProof = (by: Side, { secret, nonce, baseUrl }: LeaseChallenge): string =>
  createHmac('sha256', secret).update(`${by} ${nonce} ${baseUrl}`).digest('base64url');

export function isLeaseProof(by: Side, challenge: LeaseChallenge, proof: unknown): boolean {
  if (typeof proof !== 'string') return false;
  const [expected, actual] = [Buffer.from(leaseProof(by, challenge)), Buffer.from(proof)];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
