/**
 * Roles and their passwords. Every branch has a database and a role that owns it, with a password of its own. Two more
 * roles, the same on every branch, are the service's and never leave it. All are kept in files of mode 600.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EngineError, type BranchLogin } from '../../core/computeEngine.ts';
import { writePrivateFile } from './privateFiles.ts';

/** The role that clients log in with: owner of {@link BRANCH_DATABASE}, no superuser. */
export const BRANCH_ROLE = 'app_owner';
export const BRANCH_DATABASE = 'app';
/** The bootstrap superuser. Only the service logs in with it. */
export const SUPERUSER = 'postgres';
/** What read replicas stream with; may do nothing else. */
export const REPLICATOR = 'service_replicator';

export interface ServiceLogins {
  readonly superuser: string;
  readonly replicator: string;
}

const newPassword = () => randomBytes(24).toString('base64url');

/** The service's own passwords, made at the first call. */
export function serviceLogins(root: string): ServiceLogins {
  const make = () => ({ superuser: newPassword(), replicator: newPassword() });
  return kept(path.join(root, 'logins.json'), make, 'use another data directory');
}

/** The login of a branch, made at the first call; its data directory may come later. */
export function branchLogin(branchFolder: string): BranchLogin {
  const login = (password: string) => ({ role: BRANCH_ROLE, password, database: BRANCH_DATABASE });
  const shape = JSON.stringify(login('…'));
  const remedy = `write ${shape} to it, with the password of a connection string of this branch`;
  return kept(path.join(branchFolder, 'login.json'), () => login(newPassword()), remedy);
}

/** @param remedy what to do without a backup of a damaged file @throws {EngineError} which names the file */
function kept<T extends object>(file: string, make: () => T, remedy: string): T {
  const made = make();
  if (existsSync(file)) {
    const read = parsed(readFileSync(file, 'utf8'));
    if (isLike(made, read)) return read;
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
    return undefined; // The parser's message may repeat a password.
  }
}

/** Whether `value` has every property of `sample`, as a text like there. */
const isLike = <T extends object>(sample: T, value: unknown): value is T =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(sample).every(
    (name) => typeof Object.getOwnPropertyDescriptor(value, name)?.value === 'string',
  );
