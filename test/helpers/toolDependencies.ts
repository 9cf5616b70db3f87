import type { ToolDependencies } from '../../src/ui/agents/toolCall.ts';
import type { ConnectedModel } from './connectedModel.ts';

/** What tools for agents receive, without a log. */
export const toolDependencies = (model: ConnectedModel): ToolDependencies => ({
  ...model,
  log: { clean: (text) => text, info: () => undefined, error: () => undefined },
});
