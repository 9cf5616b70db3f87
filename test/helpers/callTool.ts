import './vscodeValues.ts';
import assert from 'node:assert/strict';
import type { ToolCaller } from '../../src/extension/agents/tools/toolCall.ts';
import { findTool } from '../../src/extension/agents/tools/toolTable.ts';
import type { WindowDependencies } from '../../src/extension/agents/ui/runInWindow.ts';

const { runInWindow } = await import('../../src/extension/agents/ui/runInWindow.ts');

/**
 * Runs a tool as in a window, and checks that its output has the fields that `tools/list` describes.
 * @param caller what differs from an agent without a folder, which waits for the result
 */
export async function callTool(
  deps: WindowDependencies,
  name: string,
  input: unknown,
  caller: Partial<ToolCaller> = {},
): Promise<object> {
  const { signal } = new AbortController();
  const output = await runInWindow(deps, name, input, {
    agent: 'claude',
    folder: undefined,
    signal,
    ...caller,
  });
  assert.equal(findTool(name)?.output.safeParse(output).error, undefined, name);
  return output;
}
