import type { Memento } from 'vscode';
import type { Memory } from '../../model/memory.ts';

/** VS Code's memento as the model wants it. */
export const memoryOf = (memento: Memento): Memory => ({
  get: (entry) => memento.get<unknown>(entry),
  update: async (entry, value) => {
    await memento.update(entry, value);
  },
});
