import type { CommandContext } from '../../src/extension/commandSupport/context.ts';
import { LastCompute } from '../../src/extension/computes/lastCompute.ts';
import { ConnectionDefaults } from '../../src/extension/connection/connectionDefaults.ts';
import { RowDocuments } from '../../src/extension/database/rows/rowDocuments.ts';
import { MemoryMap, type ConnectedModel } from './connectedModel.ts';

/** A view in which these rows are selected. @param reveal called with a row to show */
export const fakeView = (
  selection: readonly unknown[] = [],
  reveal = (_row: unknown): void => undefined,
) => ({
  view: { selection, visible: true },
  reveal: async (row: unknown) => reveal(row),
});

/** The context of commands in a window where nothing is selected, open, remembered or configured. @param more replaces parts of it */
export function commandContext(model: ConnectedModel, more: object = {}): CommandContext {
  const context = {
    ...model,
    computesView: fakeView(),
    apiKeysView: fakeView(),
    workFolders: { states: [], shown: undefined, refresh: () => undefined },
    rows: new RowDocuments(),
    lastCompute: new LastCompute(model.session, new MemoryMap()),
    connectionDefaults: new ConnectionDefaults(model.session, new MemoryMap()),
    config: { configuredLogin: () => ({ role: '', database: '' }) },
    log: { error: () => undefined },
    ...more,
  };
  return context as unknown as CommandContext;
}
