/** Remembers what agents own in a file of the service's data directory, because without a window there is no other place. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { readOwnFile } from '../api/localServiceFiles.ts';
import { renameOverSync } from '../base/replaceFile.ts';
import type { Memory } from '../model/memory.ts';

export class FileMemory implements Memory {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads the file each time: several agents may share it. */
  get(entry: string): unknown {
    return readOwnFile(this.#file)[entry];
  }

  async update(entry: string, value: unknown): Promise<void> {
    const text = JSON.stringify({ ...readOwnFile(this.#file), [entry]: value });
    const temporary = `${this.#file}.${randomBytes(6).toString('hex')}`;
    try {
      writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
      renameOverSync(temporary, this.#file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }
}
