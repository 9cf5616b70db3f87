/**
 * Keeps changes on disk. Changes that arrive while an earlier batch is being synchronised go out together as the
 * next one (group commit), so many writers share one fsync. When the file has grown well beyond what there is to
 * keep, a snapshot takes its place by an atomic rename and goes on being the journal.
 */
import { closeSync, fdatasync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { encodeLine, encodeSnapshot } from './journalFile.ts';
import type { Change } from './storedRecords.ts';

const synchronise = promisify(fdatasync);

/** Bytes: below this a journal is not worth compacting. */
const SMALLEST_COMPACTED = 4 * 1024 * 1024;

/**
 * The file grows by so many zero bytes at a time: synchronising a file that keeps its size is a third faster than one
 * that grows with every line.
 */
const GROWTH = Buffer.alloc(256 * 1024);

interface Batch {
  readonly changes: Change[];
  readonly durable: Promise<void>;
  readonly settle: (error?: unknown) => void;
}

/** What waiters get when their change could not be written; the cause goes to `onFailure`. */
export class NotDurable extends Error {
  override readonly name = 'NotDurable';
}

export interface JournalOptions {
  readonly file: string;
  /** Everything there is now; written whenever the journal is compacted. */
  readonly snapshot: () => Iterable<Change>;
  /** What was appended can no longer be made durable: whatever is in memory must not be shown any more. */
  readonly onFailure: (error: unknown) => void;
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
    return new Journal(options, descriptor, bytes);
  }

  /** Continues a journal that was read, after its last good line. */
  static resume(options: JournalOptions, goodBytes: number): Journal {
    const descriptor = openSync(options.file, 'r+');
    ftruncateSync(descriptor, goodBytes);
    // A power cut must not leave an unfinished line mixed with the next one, which would look like damage.
    fsyncSync(descriptor);
    return new Journal(options, descriptor, goodBytes);
  }

  append(changes: readonly Change[]): void {
    this.#collecting ??= newBatch();
    this.#collecting.changes.push(...changes);
    if (this.#writing === undefined && this.#failure === undefined) void this.#write();
  }

  /** Resolves when everything appended so far is on disk; undefined when it is already. Rejects for good after a failure. */
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
        await synchronise(this.#descriptor);
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
    closeSync(this.#descriptor);
    this.#descriptor = descriptor;
    this.#bytes = bytes;
    this.#reserved = bytes;
    this.#compactAt = Math.max(SMALLEST_COMPACTED, bytes * 2);
  }

  #fail(batch: Batch, error: unknown): void {
    const failure = new NotDurable('The change could not be written to disk', { cause: error });
    this.#failure = Promise.reject(failure);
    this.#failure.catch(() => undefined);
    this.#writing = undefined;
    batch.settle(failure);
    this.#collecting?.settle(failure);
    this.#options.onFailure(error);
  }
}

function newBatch(): Batch {
  let settle: Batch['settle'] = () => undefined;
  const durable = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  // Not every change has someone waiting for it; a failure is told through onFailure.
  durable.catch(() => undefined);
  return { changes: [], durable, settle };
}

function writeWhole(descriptor: number, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
  }
}

function writeSnapshot({ file, snapshot }: JournalOptions): { descriptor: number; bytes: number } {
  const fresh = `${file}.new`;
  const descriptor = openSync(fresh, 'w', 0o600);
  let bytes = 0;
  for (const line of encodeSnapshot(snapshot())) {
    writeWhole(descriptor, line, bytes);
    bytes += line.length;
  }
  fsyncSync(descriptor);
  renameSync(fresh, file);
  synchroniseFolder(path.dirname(file));
  return { descriptor, bytes };
}

/** Makes the rename itself durable. Windows has no such call and does not need it. */
function synchroniseFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
