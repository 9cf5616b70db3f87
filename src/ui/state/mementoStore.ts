import type { Memento } from 'vscode';
import type { Memory } from '../../model/memory.ts';

/** VS Code's memento as a store of the model. */
export const mementoStore = (memento: Memento): Memory => ({
  get: (entry) => memento.get<unknown>(entry),
  update: async (entry, value) => await memento.update(entry, value),
});
