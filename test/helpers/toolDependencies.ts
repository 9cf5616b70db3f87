import type { WindowDependencies } from '../../src/extension/agents/ui/runInWindow.ts';
import type { ConnectedModel } from './connectedModel.ts';

export const noLog: WindowDependencies['log'] = {
  clean: (text) => text,
  hideKnownSecrets: (text) => text,
  info: () => undefined,
  error: () => undefined,
};

/** What tools for agents receive, without a log. */
export const toolDependencies = (model: ConnectedModel): WindowDependencies => ({
  ...model,
  log: noLog,
});
