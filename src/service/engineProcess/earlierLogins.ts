/**
 * The password files of an earlier version, whose engine ran as root. They are root's, in folders of the engine's account,
 * which may have replaced them. So each is opened without following links and checked before it is given to the account.
 */
import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { UnixAccount } from './unixAccount.ts';
import { hasFields } from './peer.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Gives the files to the account. Each folder is opened relative to the descriptor of its parent, so that no link can lead
 * out of `root`.
 */
export function handOverLogins(root: string, account: UnixAccount): void {
  if (process.platform !== 'linux') return;
  withEntry(root, O_DIRECTORY, (top) => {
    withEntry(`${pathOf(top)}/branches`, O_DIRECTORY, (branches) => {
      for (const name of readdirSync(pathOf(branches)))
        withEntry(`${pathOf(branches)}/${name}`, O_DIRECTORY, (branch) =>
          give(`${pathOf(branch)}/login.json`, ['role', 'password', 'database'], account),
        );
    });
    give(`${pathOf(top)}/logins.json`, ['superuser', 'replicator'], account);
  });
}

/** @param fields strings that the file must have, so that no other file of root moved here is given away */
function give(file: string, fields: readonly string[], account: UnixAccount): void {
  withEntry(file, O_NONBLOCK, (descriptor) => {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.uid !== 0 || stat.nlink !== 1) return;
    if (hasStrings(readFileSync(descriptor, 'utf8'), fields))
      fchownSync(descriptor, account.uid, account.gid);
  });
}

function hasStrings(json: string, fields: readonly string[]): boolean {
  try {
    return hasFields(JSON.parse(json), Object.fromEntries(fields.map((name) => [name, 'string'])));
  } catch {
    return false;
  }
}

/** A path to an open folder, valid even if the folder is moved or replaced. */
const pathOf = (folder: number): string => `/proc/self/fd/${folder}`;

/** Does nothing for a link, and if the file can't be opened. */
function withEntry(file: string, flags: number, work: (descriptor: number) => void): void {
  let descriptor: number;
  try {
    descriptor = openSync(file, flags | O_NOFOLLOW);
  } catch {
    return;
  }
  try {
    work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
