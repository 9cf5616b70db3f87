/**
 * Finds the files of the write-ahead log (WAL). After a recovery to an earlier moment, a server continues on a new timeline. A file
 * `<timeline>.history` says where that began.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { parseLsn } from '../../core/lsn.ts';

/** Matches the name of a file of the WAL. Within a timeline, the names sort in the order of the contents. */
export const WAL_FILE = /^[0-9A-F]{24}$/;
/** Matches the name of a file that says from which timelines a timeline comes. */
export const TIMELINE_FILE = /^[0-9A-F]{8}\.history$/;

const HALF = 2 ** 32;

const hexadecimal = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');

/** @param size the size of a segment, in bytes */
function walFileName(timeline: number, segment: number, size: number): string {
  const perPart = HALF / size;
  return [timeline, Math.floor(segment / perPart), segment % perPart].map(hexadecimal).join('');
}

/**
 * Positions in Postgres's control file. Its first fields are the same in all versions that the service supports
 * (src/include/catalog/pg_control.h).
 */
const [STATE, CHECKPOINT, TIMELINE] = [16, 32, 48];
const SHUT_DOWN = 1;

/** Reads what the control file says about the last checkpoint. */
export function readControlFile(dataDir: string) {
  const bytes = readFileSync(path.join(dataDir, 'global', 'pg_control'));
  return {
    isShutDown: bytes.readInt32LE(STATE) === SHUT_DOWN,
    checkpoint: Number(bytes.readBigUInt64LE(CHECKPOINT)),
    timeline: bytes.readUInt32LE(TIMELINE),
  };
}

/** Whether the last server on the data was shut down cleanly. */
export const wasShutDownCleanly = (dataDir: string): boolean =>
  !existsSync(path.join(dataDir, 'postmaster.pid')) && readControlFile(dataDir).isShutDown;

/** Returns the name of the WAL file with the last checkpoint. After a clean shutdown, a server reads no older ones. */
export function walFileOfCheckpoint(dataDir: string): string {
  const { checkpoint, timeline } = readControlFile(dataDir);
  const size = segmentSize(dataDir);
  return walFileName(timeline, Math.floor(checkpoint / size), size);
}

/** Returns the bytes of a segment. All segments of a data directory have the same size. */
export function segmentSize(dataDir: string): number {
  const folder = path.join(dataDir, 'pg_wal');
  const [file = ''] = readdirSync(folder).filter((name) => WAL_FILE.test(name));
  return statSync(path.join(folder, file)).size;
}

/** A timeline, and where it began. */
interface Era {
  readonly timeline: number;
  readonly start: number;
}

/** Whether a replication slot may keep WAL. Each slot has a folder. A base backup of a server that was killed may have left one, too. */
export const hasSlots = (dataDir: string): boolean => {
  const folder = path.join(dataDir, 'pg_replslot');
  return existsSync(folder) && readdirSync(folder).length > 0;
};

/** The WAL in a data directory: its files and timelines. */
export class Wal {
  readonly folder: string;
  readonly size: number;
  readonly files: ReadonlySet<string>;
  /** The position of the last checkpoint on disk. A server never again writes a file from before that position. */
  readonly checkpoint: number;
  /** The timelines, newest first. */
  readonly #eras: readonly Era[];

  constructor(dataDir: string) {
    this.folder = path.join(dataDir, 'pg_wal');
    this.size = segmentSize(dataDir);
    this.files = new Set(readdirSync(this.folder));
    const { checkpoint, timeline } = readControlFile(dataDir);
    this.checkpoint = checkpoint;
    this.#eras = readEras(this.folder, timeline);
  }

  segmentAt(lsn: number): number {
    return Math.floor(lsn / this.size);
  }

  /** Returns the timeline on which the position was written. */
  timelineAt(lsn: number): number {
    return this.#eras.find(({ start }) => start <= lsn)?.timeline ?? 1;
  }

  /**
   * Returns the file that a recovery to `target` reads. The first file of a timeline also has the segment's WAL from before its
   * start.
   */
  fileOf(segment: number, target = Infinity): string {
    const era = this.#eras.find(({ start }) => start <= target && this.segmentAt(start) <= segment);
    return walFileName(era?.timeline ?? 1, segment, this.size);
  }

  /**
   * Returns the file with the WAL of a segment up to `target`. This is the file that a recovery reads. If the data were restored
   * without that file, it is the one of a later timeline that began in the same segment, with a copy of the segment's WAL until then.
   */
  fileToCopy(segment: number, target: number): string {
    const own = this.fileOf(segment, target);
    if (this.files.has(own)) return own;
    const later = this.#eras
      .filter(({ start }) => start > target && this.segmentAt(start) === segment)
      .map(({ timeline }) => walFileName(timeline, segment, this.size));
    return later.findLast((name) => this.files.has(name)) ?? own;
  }

  /** Returns the oldest segment after which no file is missing up to the last checkpoint. */
  oldestSegment(): number {
    let segment = this.segmentAt(this.checkpoint);
    while (segment > 0 && this.files.has(this.fileOf(segment - 1))) segment -= 1;
    return segment;
  }

  /** Returns the segment of the last file, which may be empty. */
  newestSegment(): number {
    let segment = this.segmentAt(this.checkpoint);
    while (this.files.has(this.fileOf(segment + 1))) segment += 1;
    return segment;
  }
}

function readEras(folder: string, timeline: number): Era[] {
  const file = path.join(folder, `${hexadecimal(timeline)}.history`);
  if (!existsSync(file)) return [{ timeline, start: 0 }];
  const eras: Era[] = [];
  let start = 0;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, earlier, end = ''] = /^\s*(\d+)\s+(\S+)/.exec(line) ?? [];
    if (earlier === undefined) continue;
    eras.unshift({ timeline: Number(earlier), start });
    start = parseLsn(end) ?? start;
  }
  return [{ timeline, start }, ...eras];
}

/** Overwrites what the last file of the WAL has from `end` on with zeros, at which recovery ends. */
export async function clearWalFrom(
  lastFile: string | undefined,
  { size, end }: { readonly size: number; readonly end: number },
): Promise<void> {
  const rest = (size - (end % size)) % size;
  if (lastFile === undefined || rest === 0) return;
  const file = await open(lastFile, 'r+');
  try {
    await file.write(Buffer.alloc(rest), 0, rest, size - rest);
  } finally {
    await file.close();
  }
}
