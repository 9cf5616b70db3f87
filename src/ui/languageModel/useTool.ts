/** One use of a tool, from what the model gives to what it is told. */
import {
  LanguageModelTextPart,
  LanguageModelToolResult,
  type CancellationToken,
  type PreparedToolInvocation,
} from 'vscode';
import { explainError } from '../text/errorMessage.ts';
import type { ToolName, ToolParts } from './parts.ts';
import { TOOLS } from './tools.ts';

export const prepareTool = (
  parts: ToolParts,
  name: ToolName,
  input: unknown,
): PreparedToolInvocation | undefined => TOOLS[name].prepare(parts, input);

/** @throws {Error} in words for the model */
export async function useTool(
  parts: ToolParts,
  name: ToolName,
  input: unknown,
  token: CancellationToken,
): Promise<LanguageModelToolResult> {
  try {
    const answer = await TOOLS[name].invoke(parts, input, token);
    // A last look: whatever a record holds, no key of this machine leaves with it.
    const text = parts.log.clean(JSON.stringify(answer));
    return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
  } catch (error) {
    parts.log.error(`Language model tool ${name}`, error);
    throw new Error(parts.log.clean(explainError(error).message));
  }
}
