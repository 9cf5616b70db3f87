/**
 * The history of branches: their data at earlier moments can be created from a copy of it (a base) and the write-ahead log (WAL)
 * that follows. The WAL stays in the branch's data directory, because its servers keep it (`wal_keep_size`). Bases never change,
 * so branches share them: `history.json` next to a branch's data names those that its WAL continues. The first base of a new
 * project's data is the cluster template that it is a copy of. If any of these files is missing or damaged, only history is lost. While
 * a `history.json` can't be read, the bases that it may name stay, so that restoring the file brings its history back.
 */
import { copyFileSync, existsSync, linkSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { systemReason } from '../../../base/systemReason.ts';
import {
  databasesSize,
  isThere,
  namesInFolder,
  readPrivateJson,
  removeLargeFolder,
  writePrivateFile,
} from '../storage/privateFiles.ts';
import { unrecordedFolder, type EngineStorage } from '../storage/storage.ts';
import type { BranchSize } from '../../core/branchHistory.ts';
import { EngineError } from '../../core/computeEngine.ts';
import { formatLsn, parseLsn } from '../../core/lsn.ts';
import { hasSlots, readControlFile, TIMELINE_FILE, Wal, WAL_FILE } from '../wal/walFiles.ts';

const Position = z.pipe(
  z.string().check(z.refine((text) => parseLsn(text) !== undefined)),
  z.transform((text) => parseLsn(text) ?? 0),
);
const BaseBackupRecord = z.object({
  /** The folder of the base in the engine's folder. */
  folder: z.string().check(z.regex(/^(template-\d+|bases\/[0-9a-f]+)$/)),
  /** The position where recovery begins to read WAL, and the one from where on it can end. */
  start: Position,
  end: Position,
  /** When the copy was complete. Milliseconds since 1970. */
  time: z.number(),
  /** The bytes that a base backup takes on the disk. */
  bytes: z.number(),
});
export type BaseBackupRecord = z.infer<typeof BaseBackupRecord>;

/**
 * Whether the base is the cluster template. The template was shut down, so a server on a copy reads the WAL that follows only if
 * it recovers to a moment.
 */
export const isTemplateBase = ({ folder }: BaseBackupRecord): boolean => !folder.startsWith('bases/');

/** A file next to a branch's data, if its history is kept. */
export const HISTORY_FILE = 'history.json';
/** How many megabytes of WAL the servers of a branch with history keep. */
export const KEPT_WAL_MB = 1024;

export const hasHistory = (branchFolder: string): boolean => isThere(path.join(branchFolder, HISTORY_FILE));

/** @param bases oldest first */
export function writeHistory(branchFolder: string, bases: readonly BaseBackupRecord[]): void {
  const stored = bases.map((base) => ({ ...base, start: formatLsn(base.start), end: formatLsn(base.end) }));
  writePrivateFile(path.join(branchFolder, HISTORY_FILE), JSON.stringify(stored));
  possibleBases.delete(branchFolder);
}

/**
 * Removes the history of a branch, which then can't go back to any moment. Its bases and WAL are left until they are removed as
 * unused.
 */
export function removeHistory(branchFolder: string): void {
  rmSync(path.join(branchFolder, HISTORY_FILE), { force: true });
}

/**
 * Returns the bases that a branch's file names, also those that can't be used; none if there is no file.
 * @throws {EngineError} which names a file that can't be read
 */
export function readBases(branchFolder: string): readonly BaseBackupRecord[] {
  if (!hasHistory(branchFolder)) return [];
  const file = path.join(branchFolder, HISTORY_FILE);
  try {
    return readPrivateJson(file, z.array(BaseBackupRecord), REMEDY);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    if (!hasHistory(branchFolder)) return []; // The history was removed just now.
    throw new EngineError(`Cannot read ${file}: ${systemReason(error)}`, { cause: error });
  }
}

const REMEDY = 'delete it: then the branch begins a new history';

/** What a branch can be taken back with. */
export interface History {
  readonly wal: Wal;
  /** The bases that can be used, oldest first: they exist, and no WAL after them is missing. */
  readonly bases: readonly BaseBackupRecord[];
}

/** Returns the history of a branch; undefined if the branch has no data or keeps no history. @throws {Error} if it can't be read */
export function readHistory(storage: EngineStorage, branchFolder: string): History | undefined {
  const dataDir = path.join(branchFolder, 'data');
  if (!hasHistory(branchFolder) || !isThere(dataDir)) return undefined;
  const wal = new Wal(dataDir);
  const oldest = wal.oldestSegment();
  const bases = readBases(branchFolder).filter(
    ({ folder, start }) =>
      wal.segmentAt(start) >= oldest && isThere(path.join(storage.root, folder, 'PG_VERSION')),
  );
  return { wal, bases };
}

/** Reads the history for a caller that can do without it. @returns undefined also if the history or the data is damaged */
export function readHistoryIfReadable(storage: EngineStorage, branchFolder: string): History | undefined {
  try {
    return readHistory(storage, branchFolder);
  } catch {
    return undefined;
  }
}

/** Returns the base of a branch that is created from the cluster template: the template itself. */
export const templateBase = (template: string, dataDir: string): BaseBackupRecord => ({
  folder: path.basename(template),
  start: readControlFile(template).checkpoint,
  end: readControlFile(dataDir).checkpoint,
  time: Date.now(),
  bytes: 0,
});

/**
 * Gives a copy the history of its source: the WAL before that of the copy, and the newest base, because older ones need more.
 * @param folder the folder of the copy, with its data
 */
export function inheritHistory(storage: EngineStorage, sourceFolder: string, folder: string): void {
  const history = readHistoryIfReadable(storage, sourceFolder);
  writeHistory(folder, []);
  const copy = new Wal(path.join(folder, 'data'));
  const base = history?.bases.findLast(({ end }) => end <= copy.checkpoint);
  if (history === undefined || base === undefined) return;
  // The copy has the last file itself.
  linkClosedWal(history.wal, path.join(folder, 'data', 'pg_wal'), base.start, copy.checkpoint);
  writeHistory(folder, [base]);
}

/**
 * Links the files of the WAL from `start` to `end` into the folder `to`, unless it already has them. Those that a server may
 * still write can't be shared and aren't linked, nor is the last one, so that the caller can shorten it.
 * @returns the files that aren't linked, for the caller to copy
 */
export function linkClosedWal(wal: Wal, to: string, start: number, end: number): WalFile[] {
  const [firstInUse, last] = [wal.segmentAt(wal.checkpoint), wal.segmentAt(end)];
  const rest: WalFile[] = [];
  const fileOf = (source: string, name = source): WalFile => ({
    source: path.join(wal.folder, source),
    target: path.join(to, name),
  });
  for (const name of wal.files)
    if (TIMELINE_FILE.test(name) && parseInt(name, 16) <= wal.timelineAt(end)) linkOrCopy(fileOf(name));
  for (let segment = wal.segmentAt(start); segment <= last; segment += 1) {
    const file = fileOf(wal.fileToCopy(segment, end), wal.fileOf(segment, end));
    if (segment >= Math.min(firstInUse, last)) rest.push(file);
    else linkOrCopy(file);
  }
  return rest;
}

interface WalFile {
  readonly source: string;
  readonly target: string;
}

function linkOrCopy({ source, target }: WalFile): void {
  if (existsSync(target)) return;
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target); // The file system has no links.
  }
}

/** The line of configuration by which primaries keep the WAL that history needs. A `wal_keep_size` of the user's replaces it. */
export const KEPT_WAL_SETTING = `wal_keep_size = '${KEPT_WAL_MB}MB'\n`;

/** Returns the setting for servers that don't read the branch's configuration. */
export const keptWalSettings = (branchFolder: string) =>
  hasHistory(branchFolder) ? { wal_keep_size: `${KEPT_WAL_MB}MB` } : {};

/** Returns the WAL files before the oldest base. Without a base or with slots, the server itself removes what it doesn't need. */
function walBeforeHistory({ wal, bases: [oldest] }: History): string[] {
  if (oldest === undefined || hasSlots(path.dirname(wal.folder))) return [];
  // The names are compared without the timeline, their first eight characters.
  const first = wal.fileOf(wal.segmentAt(oldest.start)).slice(8);
  return [...wal.files].filter((name) => WAL_FILE.test(name) && name.slice(8) < first);
}

export const hasWalBeforeHistory = (history: History): boolean => walBeforeHistory(history).length > 0;

/**
 * Removes the WAL before the history. A server needs none before a base, which began with a checkpoint. Call this while no copy of
 * the data is made.
 */
export function removeWalBeforeHistory(history: History): void {
  for (const name of walBeforeHistory(history)) rmSync(path.join(history.wal.folder, name), { force: true });
}

/** Returns the bytes that the history costs: its WAL, and its bases except for the first, which no history can do without. */
export function historySize({ wal, bases }: History): number {
  const [oldest, ...others] = bases;
  if (oldest === undefined) return 0;
  const segments = wal.newestSegment() + 1 - wal.segmentAt(oldest.start);
  return segments * wal.size + others.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Returns the bytes that histories cost together: branches share WAL and bases with their parents. */
export function totalHistorySize(histories: readonly History[]): number {
  const sizes = new Map<string, number>();
  for (const { wal, bases } of histories) {
    for (const { folder, bytes } of bases.slice(1)) sizes.set(folder, bytes);
    const old = new Set(walBeforeHistory({ wal, bases }));
    for (const name of wal.files) {
      if (!WAL_FILE.test(name) || old.has(name)) continue;
      const stats = statSync(path.join(wal.folder, name), { bigint: true, throwIfNoEntry: false });
      if (stats !== undefined) sizes.set(String(stats.ino), wal.size);
    }
  }
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** @throws {Error} without data */
export async function sizeOfBranch(storage: EngineStorage, branchId: string): Promise<BranchSize> {
  const folder = storage.branch(branchId);
  const databases = await databasesSize(path.join(folder, 'data'));
  const history = readHistory(storage, folder);
  if (history === undefined) return { databases, history: 0 };
  return { databases, history: historySize(history) + (history.bases[0]?.bytes ?? 0) };
}

/**
 * The bases that existed when a file was first found to be unreadable, by its branch's folder. The file may name any of them, but no
 * later one, because writing the file makes it readable.
 */
const possibleBases = new Map<string, readonly string[]>();

/**
 * Returns the names of the bases that branches need, or may need because a file can't be read.
 * @param report is called with the reason for each file that can't be read
 */
export function usedBases({ root }: EngineStorage, report?: (reason: unknown) => void): ReadonlySet<string> {
  const existing = namesInFolder(path.join(root, 'bases'));
  // Folders of unfinished copies use bases, too, and so do those that a newer account will have again.
  const folders = [path.join(root, 'branches'), unrecordedFolder(root)].flatMap((parent) =>
    namesInFolder(parent).map((name) => path.join(parent, name)),
  );
  return new Set(
    folders.flatMap((each) => {
      try {
        const named = readBases(each).map(({ folder }) => path.basename(folder));
        possibleBases.delete(each);
        return named;
      } catch (error) {
        report?.(error);
        const possible = possibleBases.get(each) ?? existing;
        possibleBases.set(each, possible);
        return possible;
      }
    }),
  );
}

/** Removes bases that no branch needs. */
export async function removeUnusedBases(storage: EngineStorage): Promise<void> {
  const used = usedBases(storage);
  const bases = path.join(storage.root, 'bases');
  for (const name of namesInFolder(bases))
    if (!used.has(name) && !name.endsWith('.new')) await removeLargeFolder(path.join(bases, name));
}
