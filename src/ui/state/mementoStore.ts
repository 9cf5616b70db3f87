import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Memento, Uri } from 'vscode';
import type { Memory } from '../../model/memory.ts';

/** VS Code's memento as the model wants it. */
export const memoryOf = (memento: Memento): Memory => ({
  get: (entry) => memento.get<unknown>(entry),
  update: async (entry, value) => {
    await memento.update(entry, value);
  },
});

/**
 * A file with one value. A memento loses what was written up to 100 ms before a reload in the browser; this value is on
 * the disk once `update` resolves, and each window reads it at once.
 */
export const fileMemory = (file: string): Memory => ({
  get() {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as unknown;
    } catch {
      return undefined; // There is no file, or it isn't one of ours.
    }
  },
  async update(_entry, value) {
    if (value === undefined) return rmSync(file, { force: true });
    // Synchronous, so that two updates of a window never mix. The pid keeps those of two windows apart.
    const next = `${file}.${process.pid}`;
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(next, JSON.stringify(value), { mode: 0o600, flush: true });
    renameSync(next, file);
    await Promise.resolve();
  },
});

export const rotationMemory = (globalStorage: Uri): Memory =>
  fileMemory(path.join(globalStorage.fsPath, 'keyRotations.json'));
