import type { WindowDependencies } from '../../src/extension/agents/ui/runInWindow.ts';
import type { ConnectedModel } from './connectedModel.ts';

/** What tools for agents receive, without a log. */
export const toolDependencies = (model: ConnectedModel): WindowDependencies => ({
  ...model,
  log: {
    clean: (text) => text,
    hideKnownSecrets: (text) => text,
    info: () => undefined,
    error: () => undefined,
  },
  config: { envFileSettings: () => ({ file: '.env', variable: 'DATABASE_URL' }) },
});
