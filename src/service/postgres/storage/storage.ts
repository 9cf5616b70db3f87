/**
 * Where the engine's files are, all in one private folder:
 *
 *     template-<major>/          the cluster template: a data directory, created once and copied for each branch without a parent,
 *                                except for the first of a temporary service
 *     sample.json                which branches begin with rows of the sample account
 *     branches/<branch>/data/    the branch's data, on which its primary runs
 *     branches/<branch>/standby.json   what it requires of read replicas
 *     branches/<branch>/replicas.conf  the WAL that its primaries keep while it has history or read replicas
 *     branches/<branch>/history.json   the bases of its history
 *     branches/<branch>/login.json     the login that the branch began with
 *     branches/<branch>/passwords.json   of roles whose password the service changed
 *     branches-with-data/<branch>  an empty file for each branch that has had data, by which missing data is noticed
 *     unrecorded/<branch>/       the folder of a branch that the account doesn't have, because account.json is an older one
 *     unrecorded/<branch>.<n>/   what was there when another folder of the branch was moved
 *     bases/<base>/              an earlier copy of a branch's data, from which its history begins
 *     replicas/<compute>/data/   a read replica's copy
 *     poolers/<compute>/         PgBouncer's configuration
 *     sockets/<short name>/      the socket folders of the servers, here or (if the path is too long) in the temporary folder
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isId } from '../../../api/records/ids.ts';
import { EngineError } from '../../core/computeEngine.ts';
import type { RecordedIds } from '../../core/recordedIds.ts';
import { renameOverSync } from '../../../base/replaceFile.ts';
import {
  isThere,
  makePrivateFolder,
  namesInFolder,
  removeFileOrFolder,
  removeLargeFolder,
  writePrivateFile,
} from './privateFiles.ts';

/** The limit on macOS and the BSDs, in bytes. On Linux it is 107. */
const MAX_SOCKET_PATH_LENGTH = 103;

/** The engine's folders. */
export interface EngineStorage {
  readonly root: string;
  clusterTemplate(major: number): string;
  branch(branchId: string): string;
  /** Records that the branch has data. */
  noteData(branchId: string): void;
  /** Whether the branch has had data, which may be missing now. */
  hasHadData(branchId: string): boolean;
  /** Records that the branch has no data any more, because it was deleted. */
  forgetData(branchId: string): void;
  replica(computeId: string): string;
  pooler(computeId: string): string;
  /** Returns the folder for a server's socket, by the id of its branch or replica. It is created if it is missing. */
  socketFolder(name: string): string;
  /** The loopback port of each server, by the id of its branch or replica. The name of the server's Unix socket contains the port. */
  readonly loopbackPorts: Map<string, number>;
  /** Forgets the address of a server that will not run again, by the id of its branch or replica. */
  removeAddress(name: string): void;
  /** Removes what a compute leaves: its address, the copy of a read replica, and PgBouncer's configuration. */
  removeCompute(computeId: string): void;
  /** Removes the folder of sockets. Call it when no server runs. */
  removeSockets(): void;
}

/** The folder with an empty file for each branch that has had data. It is not in `branches`, which may be on a disk that isn't mounted. */
const NOTES = 'branches-with-data';

/** Records that no branch has had data. Call this for a new account, in which an earlier branch may have the same id. */
export const forgetAllData = (root: string): void => removeFileOrFolder(path.join(root, NOTES));

/** Returns the folder with the folders of branches that an older account doesn't have. It may be missing. */
export const unrecordedFolder = (root: string): string => path.join(root, 'unrecorded');

/** Returns the folder that replaces a branch's folder at the end of a restore. */
export const restoredFolderOf = (folder: string): string => `${folder}.restored`;

export function openStorage(root: string): EngineStorage {
  for (const folder of ['.', 'branches', 'bases', 'replicas', 'poolers'])
    makePrivateFolder(path.join(root, folder));
  let sockets: string | undefined;
  const loopbackPorts = new Map<string, number>();
  const folderIn = (kind: string) => (id: string) => path.join(root, kind, requireId(id));
  const noteOf = folderIn(NOTES);
  const storage: EngineStorage = {
    root,
    loopbackPorts,
    clusterTemplate: (major) => path.join(root, `template-${major}`),
    branch(branchId) {
      const folder = folderIn('branches')(branchId);
      // The service was killed between the two renames of a restore.
      if (!isThere(folder) && isThere(restoredFolderOf(folder)))
        renameOverSync(restoredFolderOf(folder), folder);
      return folder;
    },
    noteData(branchId) {
      const file = noteOf(branchId);
      if (isThere(file)) return;
      makePrivateFolder(path.dirname(file));
      writeFileSync(file, '', { mode: 0o600 });
    },
    hasHadData: (branchId) => isThere(noteOf(branchId)),
    forgetData: (branchId) => removeFileOrFolder(noteOf(branchId)),
    replica: folderIn('replicas'),
    pooler: folderIn('poolers'),
    socketFolder(name) {
      sockets ??= socketsRoot(root);
      const folder = path.join(sockets, shortHash(name));
      makePrivateFolder(folder);
      return folder;
    },
    removeAddress(name) {
      loopbackPorts.delete(name);
      if (sockets !== undefined) removeFileOrFolder(path.join(sockets, shortHash(name)));
    },
    removeSockets() {
      removeFileOrFolder(sockets ?? socketsRoot(root));
      sockets = undefined;
    },
    removeCompute(computeId) {
      storage.removeAddress(computeId);
      for (const folder of [storage.replica(computeId), storage.pooler(computeId)])
        removeFileOrFolder(folder);
    },
  };
  return storage;
}

/** Returns the major versions of the branches' data. */
export function majorsInUse(root: string): ReadonlySet<number> {
  const branches = path.join(root, 'branches');
  const files = namesInFolder(branches).map((name) => path.join(branches, name, 'data', 'PG_VERSION'));
  return new Set(files.filter((file) => existsSync(file)).map((file) => Number(readFileSync(file, 'utf8'))));
}

/**
 * Removes what killed services and failed calls left, moves the folders of branches that the account has never had to `unrecorded`,
 * and moves those back that it has again. Records which branches have data. Call it when no server runs. Doesn't throw: what can't be
 * removed or moved stays, and the log says so.
 */
export async function removeUnrecorded(
  storage: EngineStorage,
  recorded: RecordedIds,
  log: (line: string) => void,
): Promise<void> {
  await removeAllUnrecorded(storage, recorded, log).catch((error: unknown) =>
    log(`Couldn't remove files that are no longer needed: ${String(error)}`),
  );
}

async function removeAllUnrecorded(
  storage: EngineStorage,
  { branches, formerBranches, computes }: RecordedIds,
  log: (line: string) => void,
): Promise<void> {
  const { root } = storage;
  // `branch` finishes an interrupted restore.
  const named = namesInFolder(path.join(root, 'branches')).map((name) => path.parse(name).name);
  for (const id of new Set([...branches, ...named])) if (isId(id)) storage.branch(id);
  moveBack(storage, branches, log);
  try {
    for (const id of branches)
      if (isId(id) && isThere(path.join(storage.branch(id), 'data'))) storage.noteData(id);
    for (const id of formerBranches) storage.forgetData(id);
  } catch (error) {
    // On a full disk, what follows makes room, so that the next start can record them.
    log(`Couldn't record which branches have data: ${String(error)}`);
  }
  const unmoved = moveUnknownBranches(storage, new Set([...branches, ...formerBranches]), log);
  const removeEntries = async (folder: string, isLeft: (name: string) => boolean) => {
    for (const file of namesInFolder(folder)
      .filter(isLeft)
      .map((name) => path.join(folder, name)))
      await removeLargeFolder(file).catch((error: unknown) =>
        log(`Couldn't remove ${file}: ${String(error)}`),
      );
  };
  await removeEntries(root, (name) => /^(template-.*\.new|initdb-password)$/.test(name));
  await removeEntries(path.join(root, 'bases'), (name) => name.endsWith('.new'));
  const kept = { branches: [...branches, ...unmoved], replicas: computes, poolers: computes };
  for (const [kind, ids] of Object.entries(kept)) {
    const recorded = new Set(ids);
    const folder = path.join(root, kind);
    await removeEntries(folder, (name) => !recorded.has(name));
    for (const id of namesInFolder(folder))
      await removeEntries(path.join(folder, id), (name) => name.endsWith('.new'));
  }
}

/**
 * Moves the folders of branches with data that the account doesn't know. A branch is recorded before it has data, and a deletion is
 * recorded, too, so the account is older than the data.
 * @returns the ids of those that couldn't be moved, which must not be removed
 */
function moveUnknownBranches(
  { root }: EngineStorage,
  known: ReadonlySet<string>,
  log: (line: string) => void,
): string[] {
  const folder = path.join(root, 'branches');
  return namesInFolder(folder).filter((id) => {
    if (!isId(id) || known.has(id)) return false;
    try {
      if (!isThere(path.join(folder, id, 'data', 'PG_VERSION'))) return false;
      const target = path.join(unrecordedFolder(root), id);
      makePrivateFolder(path.dirname(target));
      const earlier = makeRoom(target);
      renameOverSync(path.join(folder, id), target);
      log(
        `account.json has no branch ${id}, so its data was moved to ${target}. Delete it if you don't need it.` +
          (earlier === undefined ? '' : ` Earlier data of the branch is in ${earlier} now.`),
      );
      return false;
    } catch (error) {
      log(`account.json has no branch ${id}. Its data stays, because it couldn't be moved: ${String(error)}`);
      return true;
    }
  });
}

/** Moves the folders of branches back that the account has again, because account.json is a newer one. */
function moveBack(storage: EngineStorage, recorded: readonly string[], log: (line: string) => void): void {
  const { root } = storage;
  for (const id of recorded) {
    const [from, to] = [path.join(unrecordedFolder(root), id), path.join(root, 'branches', id)];
    try {
      if (!isThere(from) || isThere(to)) continue;
      // If the data can't be moved, it is missing, and the branch must not begin with an empty database.
      storage.noteData(id);
      renameOverSync(from, to);
      log(`account.json has branch ${id} again, so its data was moved back from ${from}.`);
    } catch (error) {
      log(
        `account.json has branch ${id} again, but its data couldn't be moved back from ${from}: ${String(error)}`,
      );
    }
  }
}

/**
 * Gives a folder that is there another name, because a rename doesn't replace one with files. So the plain name has the newest data.
 * @returns its new path
 */
function makeRoom(folder: string): string | undefined {
  if (!isThere(folder)) return undefined;
  let number = 2;
  while (isThere(`${folder}.${number}`)) number += 1;
  renameOverSync(folder, `${folder}.${number}`);
  return `${folder}.${number}`;
}

const shortHash = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 10);

function requireId(id: string): string {
  if (!isId(id)) throw new EngineError(`Not an id: ${String(id)}`);
  return id;
}

/** Returns the folder for sockets: in the data directory, or in the temporary folder or `/tmp` if their paths would be too long. */
function socketsRoot(root: string): string {
  const inside = path.join(root, 'sockets');
  if (canHoldSockets(inside)) {
    makePrivateFolder(inside);
    return inside;
  }
  const note = path.join(root, 'sockets-folder');
  const noted = existsSync(note) ? readFileSync(note, 'utf8') : undefined;
  if (noted !== undefined && canHoldSockets(noted) && isOwnPrivateFolder(noted)) return noted;
  const parent = canHoldSockets(path.join(os.tmpdir(), 'hpg-XXXXXX')) ? os.tmpdir() : '/tmp';
  const created = mkdtempSync(path.join(parent, 'hpg-'));
  writePrivateFile(note, created);
  return created;
}

/**
 * Whether sockets can be in a folder. Socket paths must be short, and Postgres reads a comma as the end of a folder. On Windows, no
 * sockets are used.
 */
function canHoldSockets(folder: string): boolean {
  const longest = path.join(folder, shortHash(''), '.s.PGSQL.5432');
  const isShort = Buffer.byteLength(longest) <= MAX_SOCKET_PATH_LENGTH;
  return process.platform === 'win32' || (isShort && !folder.includes(','));
}

/** Whether the folder is private. After the temporary folder was cleaned up, another user may have taken the name. */
function isOwnPrivateFolder(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}
