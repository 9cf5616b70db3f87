/** Remembers what agents own in a file of the service's data directory, because without a window there is no other place. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { readOwnFile } from '../api/localServiceFiles.ts';
import { renameOverSync } from '../base/replaceFile.ts';
import type { Memory } from '../model/memory.ts';

/** Reads the file each time: several agents may share it. */
export const fileMemory = (file: string): Memory => ({
  get: (entry) => readOwnFile(file)[entry],
  async update(entry, value) {
    const temporary = `${file}.${randomBytes(6).toString('hex')}`;
    try {
      const text = JSON.stringify({ ...readOwnFile(file), [entry]: value });
      writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
      renameOverSync(temporary, file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  },
});
