/**
 * Roles and their passwords. Each branch has a database and a role that owns it, with a separate password. Two more roles
 * are used by the service only, with the same passwords on each branch. All are in files of mode 600.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EngineError, type BranchOwner } from '../../core/computeEngine.ts';
import { writePrivateFile } from './files.ts';

/** The default role of clients: owner of {@link BRANCH_DATABASE}, no superuser. */
export const BRANCH_ROLE = 'app_owner';
export const BRANCH_DATABASE = 'app';

export interface ServiceLogins {
  readonly superuser: string;
  readonly replicator: string;
}

/** The owner of a branch's first database. */
export interface BranchLogin extends BranchOwner {
  readonly password: string;
}

export const newPassword = (): string => randomBytes(24).toString('base64url');

/** The service's passwords, created at the first call. */
export function serviceLogins(root: string): ServiceLogins {
  const make = () => ({ superuser: newPassword(), replicator: newPassword() });
  return readOrCreate(path.join(root, 'logins.json'), make, 'use another data directory');
}

const DEFAULT_OWNER: BranchOwner = { role: BRANCH_ROLE, database: BRANCH_DATABASE };

/** The login of a branch's owner, created at the first call. The branch may not have a data directory yet. */
export function branchLogin(branchFolder: string, owner = DEFAULT_OWNER): BranchLogin {
  const login = (password: string) => ({ role: owner.role, password, database: owner.database });
  const shape = JSON.stringify(login('…'));
  const remedy = `write ${shape} to it, with the password of a connection string of this branch`;
  return readOrCreate(path.join(branchFolder, 'login.json'), () => login(newPassword()), remedy);
}

/** @param remedy what to do about a damaged file without a backup @throws {EngineError} which names the file */
function readOrCreate<T extends object>(file: string, make: () => T, remedy: string): T {
  const made = make();
  if (existsSync(file)) {
    const read = parsed(readFileSync(file, 'utf8'));
    if (hasShapeOf(made, read)) return read;
    throw new EngineError(`${file} is damaged. Restore it from a backup, or ${remedy}.`);
  }
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writePrivateFile(file, JSON.stringify(made));
  return made;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The parser's message may contain a password.
  }
}

/** Whether `value` has all properties of `sample`, as strings. */
const hasShapeOf = <T extends object>(sample: T, value: unknown): value is T =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(sample).every(
    (name) => typeof Object.getOwnPropertyDescriptor(value, name)?.value === 'string',
  );

const ITERATIONS = 4096;

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const hash = (data: Buffer) => createHash('sha256').update(data).digest();

/**
 * A value for `pg_authid.rolpassword` (SCRAM-SHA-256, RFC 5802 and 7677), for use without a server. The passwords are
 * ASCII, so they need no SASLprep.
 */
export function scramVerifier(password: string, salt = randomBytes(16)): string {
  const key = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const storedKey = hash(hmac(key, 'Client Key')).toString('base64');
  const serverKey = hmac(key, 'Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

/** A verifier with another number of iterations was set by a user. Checking a password against it might take hours. */
const OUR_VERIFIER = new RegExp(`^SCRAM-SHA-256\\$${ITERATIONS}:([^$]+)\\$`);

/** Whether Postgres accepts the password for a role with this `rolpassword`. */
export function matchesVerifier(password: string, verifier: string): boolean {
  const salt = OUR_VERIFIER.exec(verifier)?.[1];
  return salt !== undefined && scramVerifier(password, Buffer.from(salt, 'base64')) === verifier;
}
