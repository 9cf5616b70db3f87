/** The account that a service of root becomes, and what that account can reach. */
import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

export interface UnixAccount {
  readonly uid: number;
  readonly gid: number;
}

export function nobody(): UnixAccount {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  // macOS and some directory services: not in the file, or with a negative number.
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Whether the account can go through every folder above `file`. */
export function canReach(file: string, account: UnixAccount): boolean {
  const parent = path.dirname(file);
  return (parent === file || canReach(parent, account)) && canSearch(parent, account);
}

export function canSearch(folder: string, account: UnixAccount): boolean {
  const { uid, gid, mode } = statSync(folder);
  if (uid === account.uid) return (mode & 0o100) !== 0;
  return (mode & (gid === account.gid ? 0o010 : 0o001)) !== 0;
}

/** Whether it is a folder that only the account and root can use. */
export function isPrivate(folder: string, account: UnixAccount): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === account.uid && (stat.mode & 0o077) === 0;
}

/** Whether it is a folder that only root can write, so that other users cannot replace its entries. */
export function isWritableOnlyByRoot(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === 0 && (stat.mode & 0o022) === 0;
}

/** Creates a folder of root that every user can read with any umask. One that exists gets the same mode. */
export function makeReadable(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (isWritableOnlyByRoot(folder)) chmodSync(folder, 0o755);
}
