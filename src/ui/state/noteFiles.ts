import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Uri } from 'vscode';
import { replaceFile } from '../../base/replaceFile.ts';
import type { RotationNote } from '../../model/account/keyRotation.ts';
import type { Notes } from '../../model/memory.ts';
import type { UnprotectedBranch } from '../../model/operations/unprotectedBranches.ts';

/**
 * Notes in files of one folder. VS Code's memento, in a browser, loses what was written in the last 100 ms before a reload.
 */
export class NoteFiles<T> implements Notes<T> {
  readonly #folder: string;

  constructor(globalStorage: Pick<Uri, 'fsPath'>, folder: string) {
    this.#folder = path.join(globalStorage.fsPath, folder);
  }

  all(): readonly T[] {
    try {
      // A window that was killed while it wrote a note leaves a file with another extension.
      const names = readdirSync(this.#folder).filter((name) => name.endsWith('.json'));
      return names.flatMap((name) => readNote<T>(path.join(this.#folder, name)) ?? []);
    } catch {
      return []; // There never was a note.
    }
  }

  async set(id: string, note: T): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    await replaceFile(this.#file(id), JSON.stringify(note), { mode: 0o600 });
  }

  delete(id: string): void {
    rmSync(this.#file(id), { force: true });
  }

  #file(id: string): string {
    return path.join(this.#folder, `${createHash('sha256').update(id).digest('hex')}.json`);
  }
}

function readNote<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // Another window has removed it, or it is damaged.
  }
}

/** See `rotateKey`. */
export const rotationNotes = (globalStorage: Pick<Uri, 'fsPath'>): Notes<RotationNote> =>
  new NoteFiles(globalStorage, 'keyRotations');

/** See `UnprotectedBranches`. */
export const unprotectedNotes = (globalStorage: Pick<Uri, 'fsPath'>): Notes<UnprotectedBranch> =>
  new NoteFiles(globalStorage, 'unprotectedBranches');
