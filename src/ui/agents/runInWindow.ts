/** Runs the tools with what only a window has: the user, who can be asked, and VS Code's trust and git. */
import { runTool } from '../../model/agents/tools/runTool.ts';
import type { Caller, ToolDependencies } from '../../model/agents/tools/toolCall.ts';
import { runGit } from '../envFile/git.ts';
import { requireTrust } from '../state/trust.ts';
import { explainError } from '../text/errorMessage.ts';
import { approvalRequest, approveForAgent } from './approveForAgent.ts';

export type WindowDependencies = Omit<ToolDependencies, 'runGit' | 'explain' | 'requireTrust' | 'approve'>;

/** @param name any text @returns the tool's output, without secrets @throws {Error} with a sentence for the model */
export const runInWindow = (
  deps: WindowDependencies,
  name: string,
  input: unknown,
  caller: Caller,
): Promise<object> =>
  runTool(
    {
      ...deps,
      runGit,
      requireTrust,
      explain: (error) => explainError(error).message,
      approve: (change, connection, signal) =>
        approveForAgent(deps, approvalRequest(change), connection, signal),
    },
    name,
    input,
    caller,
  );
