/** Creates what Postgres stores for a password with SCRAM-SHA-256 (RFC 5802, 7677), for use where no server runs. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

const ITERATIONS = 4096;

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const hash = (data: Buffer) => createHash('sha256').update(data).digest();

/** A value for `pg_authid.rolpassword`. Passwords here are ASCII, so they need no SASLprep. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const key = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const storedKey = hash(hmac(key, 'Client Key')).toString('base64');
  const serverKey = hmac(key, 'Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
