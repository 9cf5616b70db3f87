/**
 * Roles and their passwords. Each branch has a database and a role that owns it, with a separate password. Two more roles
 * are used by the service only, with the same passwords on each branch. All are in files of mode 600.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import type { BranchOwner } from '../../core/computeEngine.ts';
import { READER } from '../../core/systemNames.ts';
import { makePrivateFolder, readPrivateJson, writePrivateFile } from '../storage/privateFiles.ts';

/** The default role of clients: owner of {@link BRANCH_DATABASE}, no superuser. */
export const BRANCH_ROLE = 'app_owner';
export const BRANCH_DATABASE = 'app';

const ServicePasswords = z.object({ superuser: z.string(), replicator: z.string() });
export type ServicePasswords = z.infer<typeof ServicePasswords>;

/** How the owner of a branch's first database logs in. */
const OwnerLogin = z.object({ role: z.string(), password: z.string(), database: z.string() });
export type OwnerLogin = z.infer<typeof OwnerLogin>;

export const newPassword = (): string => randomBytes(24).toString('base64url');

/** Reads the service's passwords, which the first call creates. */
export function readOrCreateServicePasswords(root: string): ServicePasswords {
  const file = path.join(root, 'logins.json');
  if (existsSync(file)) return readPrivateJson(file, ServicePasswords, 'use another data directory');
  return createLoginFile(file, { superuser: newPassword(), replicator: newPassword() });
}

const DEFAULT_OWNER: BranchOwner = { role: BRANCH_ROLE, database: BRANCH_DATABASE };

/** Reads the login of a branch's owner, which the first call creates. The branch may not have a data directory yet. */
export function readOrCreateBranchLogin(
  branchFolder: string,
  { role, database } = DEFAULT_OWNER,
): OwnerLogin {
  const file = path.join(branchFolder, 'login.json');
  if (!existsSync(file)) return createLoginFile(file, { role, password: newPassword(), database });
  const shape = JSON.stringify({ role, password: '…', database });
  const remedy = `write ${shape} to it, with the password of a connection string of this branch`;
  return readPrivateJson(file, OwnerLogin, remedy);
}

function createLoginFile<T>(file: string, login: T): T {
  makePrivateFolder(path.dirname(file));
  writePrivateFile(file, JSON.stringify(login));
  return login;
}

/** The predefined roles of the reader, for data, statistics and settings. Neither signals, writes, or reads files. */
export const READER_ROLES = 'pg_read_all_data, pg_monitor';

const READER_SETTINGS = {
  // A session of the reader can change this setting, but not the ones below.
  default_transaction_read_only: 'on',
  temp_file_limit: '2GB',
  // Large objects have no right that `pg_read_all_data` includes. A read-only transaction doesn't change them.
  lo_compat_privileges: 'on',
};

/** The role is created in a new cluster, and when a branch that lacks it first needs it. */
export const READER_STATEMENTS: readonly string[] = [
  `CREATE ROLE ${READER} LOGIN BYPASSRLS CONNECTION LIMIT 20`,
  `GRANT ${READER_ROLES} TO ${READER}`,
  ...Object.entries(READER_SETTINGS).map(([name, value]) => `ALTER ROLE ${READER} SET ${name} = '${value}'`),
];

const SCRAM_ITERATIONS = 4096;

const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const hash = (data: Buffer) => createHash('sha256').update(data).digest();

/**
 * Returns a value for `pg_authid.rolpassword` (SCRAM-SHA-256, RFC 5802 and 7677), for use without a server. The passwords are
 * ASCII, so they need no SASLprep.
 */
export function scramVerifier(password: string, salt = randomBytes(16)): string {
  const key = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, 32, 'sha256');
  const storedKey = hash(hmac(key, 'Client Key')).toString('base64');
  const serverKey = hmac(key, 'Server Key').toString('base64');
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

/**
 * Matches the verifiers that the service makes. One with another number of iterations was set by a user, and checking a password
 * against that might take hours.
 */
const OUR_VERIFIER = new RegExp(`^SCRAM-SHA-256\\$${SCRAM_ITERATIONS}:([^$]+)\\$`);

/** Whether Postgres accepts the password for a role with this `rolpassword`. */
export function matchesVerifier(password: string, verifier: string): boolean {
  const salt = OUR_VERIFIER.exec(verifier)?.[1];
  return salt !== undefined && scramVerifier(password, Buffer.from(salt, 'base64')) === verifier;
}
