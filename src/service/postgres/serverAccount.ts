/**
 * Postgres and PgBouncer refuse to run as root. A service that runs as root gives their processes the account
 * `nobody` and their files to it; any other user runs them plainly, as itself.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EngineError } from '../core/computeEngine.ts';
import { systemReason } from '../core/systemReason.ts';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The account server processes run under; undefined: our own. */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Makes a folder (and its parents) that only the server processes' account and root can look into. */
export function makePrivateFolder(folder: string, account: Account | undefined): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  if (account) chownSync(folder, account.uid, account.gid);
}

/**
 * Writes a file that only the server processes' account and root can read. A crash leaves the old one or the new.
 * @throws {EngineError} which names the file
 */
export function writePrivateFile(file: string, text: string, account: Account | undefined): void {
  const writing = `${file}.new`;
  try {
    writeFileSync(writing, text, { mode: 0o600, flush: true });
    if (account) chownSync(writing, account.uid, account.gid);
    renameSync(writing, file);
  } catch (error) {
    // The system's message does not name a file that was open already.
    throw new EngineError(`Cannot write ${file}: ${systemReason(error)}`, { cause: error });
  }
}

/** Whether the account can go through every folder above `file`. */
export function canReach(file: string, account: Account): boolean {
  const parent = path.dirname(file);
  return (parent === file || canReach(parent, account)) && canSearch(parent, account);
}

export function canSearch(folder: string, account: Account): boolean {
  const { uid, gid, mode } = statSync(folder);
  if (uid === account.uid) return (mode & 0o100) !== 0;
  return (mode & (gid === account.gid ? 0o010 : 0o001)) !== 0;
}

/**
 * What server processes see of our environment. Everything else stays out: a PGDATA, PGPORT or LC_ALL of the
 * user's would bend the server, and a key kept in the environment is none of its business.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot', 'SystemDrive', 'TEMP', 'TMP'];
  const environment = Object.fromEntries(
    kept.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]),
  );
  return { ...environment, LC_ALL: 'C' };
}
