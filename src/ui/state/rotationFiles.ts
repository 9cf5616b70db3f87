import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Uri } from 'vscode';
import type { RotationRecord, RotationStore } from '../../model/account/pendingRotations.ts';

/** Milliseconds after which a damaged file is no longer being written. */
const WRITTEN_AFTER = 10_000;

/**
 * A file for each pending key rotation. A memento loses what was written up to 100 ms before a reload in the browser; a file
 * is on the disk at once, and the file system lets only one window create it.
 */
export class RotationFiles implements RotationStore {
  readonly #folder: string;

  constructor(globalStorage: Pick<Uri, 'fsPath'>) {
    this.#folder = path.join(globalStorage.fsPath, 'keyRotations');
  }

  get isEmpty(): boolean {
    return this.#files().length === 0;
  }

  all(): RotationRecord[] {
    return this.#files().flatMap((file) => readRecord(file) ?? []);
  }

  async create(account: string, rotation: unknown): Promise<boolean> {
    const file = this.#file(account);
    mkdirSync(this.#folder, { recursive: true });
    // Left by a crash while it was written.
    if (isOldFile(file) && readRecord(file) === undefined) rmSync(file, { force: true });
    try {
      writeFileSync(file, JSON.stringify(rotation), { flag: 'wx', mode: 0o600, flush: true });
      return await Promise.resolve(true);
    } catch (error) {
      if (isExisting(error)) return false;
      throw error;
    }
  }

  async touch(account: string): Promise<void> {
    const now = new Date();
    utimesSync(this.#file(account), now, now);
    await Promise.resolve();
  }

  async remove(account: string): Promise<void> {
    rmSync(this.#file(account), { force: true });
    await Promise.resolve();
  }

  #file(account: string): string {
    return path.join(this.#folder, `${createHash('sha256').update(account).digest('hex')}.json`);
  }

  #files(): string[] {
    try {
      return readdirSync(this.#folder).map((name) => path.join(this.#folder, name));
    } catch {
      return []; // No key was ever rotated.
    }
  }
}

function readRecord(file: string): RotationRecord | undefined {
  try {
    const rotation: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return { rotation, beat: statSync(file).mtimeMs };
  } catch {
    return undefined; // Another window has removed it, or it is damaged.
  }
}

const isOldFile = (file: string): boolean =>
  Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > WRITTEN_AFTER;

const isExisting = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';
