/**
 * Keeps changes on disk as lines of a checksum (CRC-32, hexadecimal), a space and JSON. The first line is the header, every
 * other line an array of changes that become durable together. Changes that arrive during an fsync share the next line
 * (group commit). When the file has grown far beyond its contents, a snapshot replaces it by an atomic rename.
 */
import { closeSync, fdatasync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { renameOver } from '../core/rename.ts';
import { systemReason } from '../core/systemReason.ts';
import { DataError } from './dataError.ts';
import type { Change } from './storedRecords.ts';

/** Increased whenever older programs could not read the file. */
export const FORMAT = 2;

/** Characters of a line's checksum; a space follows. */
export const CHECKSUM_LENGTH = 8;

export const checksum = (bytes: Buffer): string => crc32(bytes).toString(16).padStart(CHECKSUM_LENGTH, '0');

/** Changes of a snapshot in one line, so that no string becomes huge. */
const CHANGES_PER_LINE = 1000;

const sync = promisify(fdatasync);

/** Bytes; a smaller journal is not worth compacting. */
const SMALLEST_COMPACTED = 4 * 1024 * 1024;

/** The file grows by this many zero bytes at a time: fdatasync is a third faster while the size stays the same. */
const GROWTH = Buffer.alloc(256 * 1024);

interface Batch {
  readonly changes: Change[];
  readonly durable: Promise<void>;
  readonly settle: (error?: unknown) => void;
}

export interface JournalOptions {
  readonly file: string;
  /** Returns the whole account; written when the journal is compacted. */
  readonly snapshot: () => Iterable<Change>;
  /** Called when changes can no longer be made durable: the account in memory must not be shown any more. */
  readonly onFailure: (error: DataError) => void;
}

export class Journal {
  readonly #options: JournalOptions;
  #descriptor: number;
  #bytes: number;
  #reserved: number;
  #compactAt: number;
  #collecting: Batch | undefined;
  #writing: Batch | undefined;
  #failure: Promise<never> | undefined;

  private constructor(options: JournalOptions, descriptor: number, bytes: number) {
    this.#options = options;
    this.#descriptor = descriptor;
    this.#bytes = bytes;
    this.#reserved = bytes;
    this.#compactAt = Math.max(SMALLEST_COMPACTED, bytes * 2);
  }

  /** Starts a journal with a snapshot. */
  static create(options: JournalOptions): Journal {
    const { descriptor, bytes } = writeSnapshot(options);
    replaceJournal(options.file);
    return new Journal(options, descriptor, bytes);
  }

  /** Continues an existing journal after its last good line. */
  static resume(options: JournalOptions, goodBytes: number): Journal {
    const descriptor = openSync(options.file, 'r+');
    ftruncateSync(descriptor, goodBytes);
    // Otherwise a power cut could mix the torn line with the next one, which looks like damage.
    fsyncSync(descriptor);
    return new Journal(options, descriptor, goodBytes);
  }

  append(changes: readonly Change[]): void {
    this.#collecting ??= newBatch();
    this.#collecting.changes.push(...changes);
    if (this.#writing === undefined && this.#failure === undefined) void this.#write();
  }

  /** Resolves when everything appended so far is on disk; undefined if it is already. After a failure it always rejects. */
  whenDurable(): Promise<void> | undefined {
    return this.#failure ?? this.#collecting?.durable ?? this.#writing?.durable;
  }

  async close(): Promise<void> {
    try {
      await this.whenDurable();
      ftruncateSync(this.#descriptor, this.#bytes);
    } finally {
      closeSync(this.#descriptor);
    }
  }

  async #write(): Promise<void> {
    for (let batch = this.#collecting; batch !== undefined; batch = this.#collecting) {
      this.#collecting = undefined;
      this.#writing = batch;
      try {
        this.#writeLine(encodeLine(batch.changes));
        await sync(this.#descriptor);
        if (this.#bytes > this.#compactAt) this.#compact();
      } catch (error) {
        this.#fail(batch, error);
        return;
      }
      batch.settle();
    }
    this.#writing = undefined;
  }

  #writeLine(line: Buffer): void {
    while (this.#bytes + line.length > this.#reserved) {
      writeWhole(this.#descriptor, GROWTH, this.#reserved);
      this.#reserved += GROWTH.length;
    }
    writeWhole(this.#descriptor, line, this.#bytes);
    this.#bytes += line.length;
  }

  #compact(): void {
    const { descriptor, bytes } = writeSnapshot(this.#options);
    // First, because Windows can't replace an open file.
    closeSync(this.#descriptor);
    this.#descriptor = descriptor;
    replaceJournal(this.#options.file);
    this.#bytes = bytes;
    this.#reserved = bytes;
    this.#compactAt = Math.max(SMALLEST_COMPACTED, bytes * 2);
    // The snapshot has these changes. After it, they could refer to a project that it no longer has.
    this.#collecting?.settle();
    this.#collecting = undefined;
  }

  #fail(batch: Batch, error: unknown): void {
    const message = `Cannot write to ${this.#options.file}: ${systemReason(error)}`;
    const failure = new DataError('notUsable', message);
    this.#failure = Promise.reject(failure);
    this.#failure.catch(() => undefined);
    this.#writing = undefined;
    batch.settle(failure);
    this.#collecting?.settle(failure);
    this.#options.onFailure(failure);
  }
}

function newBatch(): Batch {
  let settle: Batch['settle'] = () => undefined;
  const durable = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  // Not every change has a caller that waits for it; `onFailure` reports failures.
  durable.catch(() => undefined);
  return { changes: [], durable, settle };
}

function writeWhole(descriptor: number, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
  }
}

const newFile = (file: string): string => `${file}.new`;

/** Writes the account to a new file, which does not replace the journal yet. */
function writeSnapshot({ file, snapshot }: JournalOptions): { descriptor: number; bytes: number } {
  const descriptor = openSync(newFile(file), 'w', 0o600);
  let bytes = 0;
  for (const line of encodeSnapshot(snapshot())) {
    writeWhole(descriptor, line, bytes);
    bytes += line.length;
  }
  fsyncSync(descriptor);
  return { descriptor, bytes };
}

function replaceJournal(file: string): void {
  renameOver(newFile(file), file);
  syncFolder(path.dirname(file));
}

/** Makes the rename durable. Windows neither has this call nor needs it. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

export function encodeLine(value: unknown): Buffer {
  const line = Buffer.from(`${' '.repeat(CHECKSUM_LENGTH)} ${JSON.stringify(value)}\n`);
  line.write(checksum(line.subarray(CHECKSUM_LENGTH + 1, -1)), 'latin1');
  return line;
}

export function* encodeSnapshot(changes: Iterable<Change>): Iterable<Buffer> {
  yield encodeLine({ format: FORMAT });
  let line: Change[] = [];
  for (const change of changes) {
    if (line.push(change) < CHANGES_PER_LINE) continue;
    yield encodeLine(line);
    line = [];
  }
  if (line.length > 0) yield encodeLine(line);
}
