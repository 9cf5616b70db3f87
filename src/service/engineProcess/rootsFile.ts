/**
 * Files that earlier versions, whose engine ran as root, left in the folders of the engine's account. The account may have
 * put anything in their place since, so each is opened without following a link and looked at before it is used.
 */
import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Account } from './account.ts';
import { hasFields } from './messages.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** @returns the content of a JSON file of root's; undefined for all else */
export function readRootsFile(file: string): unknown {
  return withEntry(file, O_NONBLOCK, readOwn);
}

/**
 * Gives the files with passwords to the account, once: they are root's only where an earlier version made them. Each folder
 * is gone through by its descriptor, so that no link can lead to a file elsewhere.
 */
export function handOverLogins(root: string, account: Account): void {
  if (process.platform !== 'linux') return;
  withEntry(root, O_DIRECTORY, (top) => {
    const logins = `${pathOf(top)}/logins.json`;
    if (readRootsFile(logins) === undefined) return;
    withEntry(`${pathOf(top)}/branches`, O_DIRECTORY, (branches) => {
      for (const name of readdirSync(pathOf(branches)))
        withEntry(`${pathOf(branches)}/${name}`, O_DIRECTORY, (branch) =>
          give(`${pathOf(branch)}/login.json`, ['role', 'password', 'database'], account),
        );
    });
    // Last, for it says whether the others were given.
    give(logins, ['superuser', 'replicator'], account);
  });
}

/** @param fields that the file has, as texts: another file that was moved here does not */
function give(file: string, fields: readonly string[], account: Account): void {
  const types = Object.fromEntries(fields.map((name) => [name, 'string']));
  withEntry(file, O_NONBLOCK, (descriptor) => {
    if (hasFields(readOwn(descriptor), types)) fchownSync(descriptor, account.uid, account.gid);
  });
}

/** @returns undefined unless it is a file of root's, under no other name, that holds JSON */
function readOwn(descriptor: number): unknown {
  const stat = fstatSync(descriptor);
  if (!stat.isFile() || stat.uid !== 0 || stat.nlink !== 1) return undefined;
  try {
    return JSON.parse(readFileSync(descriptor, 'utf8'));
  } catch {
    return undefined; // Not one of ours.
  }
}

/** What it names stays the same, wherever it is moved to. */
const pathOf = (folder: number): string => `/proc/self/fd/${folder}`;

/** @returns what `work` returns; undefined for a link, and where there is nothing of that kind */
function withEntry<T>(file: string, flags: number, work: (descriptor: number) => T): T | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, flags | O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
