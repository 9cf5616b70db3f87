/**
 * Where the engine keeps what. Everything lies in one private folder:
 *
 *     template-<major>/          a data directory made once, copied for every branch
 *     branches/<branch>/data/    the branch's data, on which its primary runs
 *     branches/<branch>/login.json
 *     replicas/<compute>/data/   a read replica's own copy
 *     poolers/<compute>/         PgBouncer's configuration
 *     sockets/<short name>/      one socket folder per server, here or (path no good) in the temporary folder
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isId } from '../../../api/records/ids.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { makePrivateFolder, writePrivateFile } from './privateFiles.ts';

/** What `sun_path` holds on the BSDs and macOS, the shortest of all; Linux takes 107. */
const LONGEST_SOCKET_PATH = 103;

export interface Storage {
  readonly root: string;
  template(major: number): string;
  branch(branchId: string): string;
  replica(computeId: string): string;
  pooler(computeId: string): string;
  /** The folder for a server's socket, by the name of what it serves; made when missing. */
  socketFolder(name: string): string;
  /** On Windows, the loopback port of each server in the place of its socket folder. */
  readonly loopbackPorts: Map<string, number>;
  /** Takes the sockets away when nothing runs any more. */
  removeSockets(): void;
}

export function openStorage(root: string): Storage {
  for (const folder of ['.', 'branches', 'replicas', 'poolers']) makePrivateFolder(path.join(root, folder));
  let sockets: string | undefined;
  const within = (kind: string) => (id: string) => path.join(root, kind, checked(id));
  return {
    root,
    loopbackPorts: new Map(),
    template: (major) => path.join(root, `template-${major}`),
    branch: within('branches'),
    replica: within('replicas'),
    pooler: within('poolers'),
    socketFolder(name) {
      sockets ??= socketsRoot(root);
      const folder = path.join(sockets, shortName(name));
      makePrivateFolder(folder);
      return folder;
    },
    removeSockets() {
      if (sockets !== undefined) rmSync(sockets, { recursive: true, force: true });
      sockets = undefined;
    },
  };
}

/** Removes the contents of a folder. The folder itself stays: only root may be able to remove it. */
export async function emptyFolder(folder: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 };
  await Promise.all((await readdir(folder)).map((name) => rm(path.join(folder, name), options)));
}

const shortName = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 10);

function checked(id: string): string {
  if (!isId(id)) throw new EngineError(`Not an id: ${String(id)}`);
  return id;
}

/**
 * Socket paths are short or not at all, so a deep data directory has its sockets in the temporary folder. So has one with
 * a comma in its name, which Postgres and its clients would take for the beginning of another folder's.
 */
function socketsRoot(root: string): string {
  const inside = path.join(root, 'sockets');
  const isShort = Buffer.byteLength(path.join(inside, shortName(''), '.s.PGSQL.5432')) <= LONGEST_SOCKET_PATH;
  if (isShort && !inside.includes(',')) {
    makePrivateFolder(inside);
    return inside;
  }
  const note = path.join(root, 'sockets-folder');
  const noted = readNote(note);
  if (noted !== undefined && isOurs(noted)) return noted;
  const made = mkdtempSync(path.join(os.tmpdir(), 'hpg-'));
  writePrivateFile(note, made);
  return made;
}

function readNote(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // No note, or one that an earlier version wrote as root.
  }
}

const isPrivate = (mode: number) => process.platform === 'win32' || (mode & 0o077) === 0;

/** After the temporary folder was cleaned up, the name may be another user's. */
function isOurs(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return (
    stat?.isDirectory() === true && stat.uid === (process.getuid?.() ?? stat.uid) && isPrivate(stat.mode)
  );
}
