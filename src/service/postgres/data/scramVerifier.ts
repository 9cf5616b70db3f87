/** SCRAM-SHA-256 (RFC 5802, 7677) as Postgres uses it: the client's side, and the verifier a server stores. */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

const ITERATIONS = 4096;

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const hash = (data: Buffer) => createHash('sha256').update(data).digest();
const salted = (password: string, salt: Buffer, iterations: number) =>
  pbkdf2Sync(password, salt, iterations, 32, 'sha256');

/** What `pg_authid.rolpassword` holds for a password. Passwords here are ASCII, so need no SASLprep. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const key = salted(password, salt, ITERATIONS);
  const storedKey = hash(hmac(key, 'Client Key')).toString('base64');
  const serverKey = hmac(key, 'Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

export interface ScramExchange {
  readonly first: string;
  /** @param challenge the server's first message @returns the client's final message */
  answer(challenge: string): string;
  /** Whether the server knew the password too. @param final the server's final message */
  verify(final: string): boolean;
}

export function scramExchange(password: string): ScramExchange {
  // Postgres takes the user from the start-up message and ignores the one in here.
  const bare = `n=,r=${randomBytes(18).toString('base64')}`;
  let signature: Buffer | undefined;
  return {
    first: `n,,${bare}`,
    answer(challenge) {
      const fields = fieldsOf(challenge);
      const key = salted(password, Buffer.from(fields.get('s') ?? '', 'base64'), Number(fields.get('i')));
      const withoutProof = `c=biws,r=${fields.get('r') ?? ''}`;
      const message = `${bare},${challenge},${withoutProof}`;
      const clientKey = hmac(key, 'Client Key');
      const mask = hmac(hash(clientKey), message);
      const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (mask[at] ?? 0)));
      signature = hmac(hmac(key, 'Server Key'), message);
      return `${withoutProof},p=${proof.toString('base64')}`;
    },
    verify(final) {
      const given = Buffer.from(fieldsOf(final).get('v') ?? '', 'base64');
      return (
        signature !== undefined && given.length === signature.length && timingSafeEqual(given, signature)
      );
    },
  };
}

const fieldsOf = (message: string) =>
  new Map(message.split(',').map((field) => [field.slice(0, 1), field.slice(2)]));
