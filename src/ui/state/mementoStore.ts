import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Memento, Uri } from 'vscode';
import type { Memory } from '../../model/memory.ts';

/** VS Code's memento as a store of the model. */
export const mementoStore = (memento: Memento): Memory => ({
  get: (entry) => memento.get<unknown>(entry),
  update: async (entry, value) => await memento.update(entry, value),
});

/**
 * A file with one value. In the browser, a memento loses what was written in the last 100 ms before a reload. This value
 * is on disk once `update` resolves, and all windows read it immediately.
 */
export const fileStore = (file: string): Memory => ({
  get() {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as unknown;
    } catch {
      return undefined; // The file doesn't exist or is damaged.
    }
  },
  async update(_entry, value) {
    if (value === undefined) return rmSync(file, { force: true });
    // Synchronous, so that updates of this window don't overlap. The pid separates windows.
    const temporary = `${file}.${process.pid}`;
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600, flush: true });
    renameSync(temporary, file);
    await Promise.resolve();
  },
});

export const rotationStore = (globalStorage: Uri): Memory =>
  fileStore(path.join(globalStorage.fsPath, 'keyRotations.json'));
