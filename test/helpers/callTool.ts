import './vscodeValues.ts';
import assert from 'node:assert/strict';
import type { ToolCaller } from '../../src/extension/agents/tools/toolCall.ts';
import { findTool } from '../../src/extension/agents/tools/toolTable.ts';
import type { WindowDependencies } from '../../src/extension/agents/ui/runInWindow.ts';

const { runInWindow } = await import('../../src/extension/agents/ui/runInWindow.ts');

/** Runs a tool as in a window, and checks that its output has the fields that `tools/list` describes. */
export async function callTool(
  deps: WindowDependencies,
  name: string,
  input: unknown,
  caller: ToolCaller,
): Promise<object> {
  const output = await runInWindow(deps, name, input, caller);
  assert.equal(findTool(name)?.output.safeParse(output).error, undefined, name);
  return output;
}
