/**
 * Files of root in folders of the engine's account. Earlier versions, whose engine ran as root, created them. The account
 * may have replaced them since, so each is opened without following links and checked before it is used.
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
 * Gives the password files of an earlier version to the account. Does nothing when they are its own already. Each folder is
 * opened relative to the descriptor of its parent, so that no link can lead out of `root`.
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
    // Last: its owner shows whether the others were done.
    give(logins, ['superuser', 'replicator'], account);
  });
}

/** @param fields strings that the file must have, so that no other file of root moved here is given away */
function give(file: string, fields: readonly string[], account: Account): void {
  const types = Object.fromEntries(fields.map((name) => [name, 'string']));
  withEntry(file, O_NONBLOCK, (descriptor) => {
    if (hasFields(readOwn(descriptor), types)) fchownSync(descriptor, account.uid, account.gid);
  });
}

/** @returns the JSON content; undefined unless it is a regular file of root with a single name */
function readOwn(descriptor: number): unknown {
  const stat = fstatSync(descriptor);
  if (!stat.isFile() || stat.uid !== 0 || stat.nlink !== 1) return undefined;
  try {
    return JSON.parse(readFileSync(descriptor, 'utf8'));
  } catch {
    return undefined; // Not JSON, so not one of ours.
  }
}

/** A path to an open folder, valid even if the folder is moved or replaced. */
const pathOf = (folder: number): string => `/proc/self/fd/${folder}`;

/** @returns the result of `work`; undefined for a link, and when the file cannot be opened */
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
