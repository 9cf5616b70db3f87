import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Uri } from 'vscode';
import { replaceFile } from '../base/replaceFile.ts';
import type { RotationRecord } from './signIn/apiKeys/keyRotation.ts';
import type { RecoveryRecords } from './window/memory.ts';
import type { UnprotectedBranch } from './branches/branchActions.ts';

/**
 * Recovery records as files in one folder, because VS Code's Memento in a browser loses what is written in the last 100 ms
 * before a reload.
 */
export class RecoveryRecordFiles<T> implements RecoveryRecords<T> {
  readonly #folder: string;

  constructor(globalStorage: Pick<Uri, 'fsPath'>, folder: string) {
    this.#folder = path.join(globalStorage.fsPath, folder);
  }

  all(): readonly T[] {
    try {
      // A window that is killed while it writes leaves a file with another extension.
      const names = readdirSync(this.#folder).filter((name) => name.endsWith('.json'));
      return names.flatMap((name) => readRecord<T>(path.join(this.#folder, name)) ?? []);
    } catch {
      return []; // The folder is created with the first record.
    }
  }

  async set(id: string, record: T): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    await replaceFile(this.#fileOf(id), JSON.stringify(record), { mode: 0o600 });
  }

  delete(id: string): void {
    rmSync(this.#fileOf(id), { force: true });
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, `${createHash('sha256').update(id).digest('hex')}.json`);
  }
}

function readRecord<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // Another window has removed it, or it is damaged.
  }
}

/** Returns the records of unfinished rotations: see `rotateKey`. */
export const rotationRecords = (globalStorage: Pick<Uri, 'fsPath'>): RecoveryRecords<RotationRecord> =>
  new RecoveryRecordFiles(globalStorage, 'keyRotations');

/** Returns the records of branches that are unprotected for a change: see `BranchActions`. */
export const unprotectedRecords = (globalStorage: Pick<Uri, 'fsPath'>): RecoveryRecords<UnprotectedBranch> =>
  new RecoveryRecordFiles(globalStorage, 'unprotectedBranches');
