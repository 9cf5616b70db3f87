/** Runs a tool for VS Code's chat and for MCP clients: the one way to the functions, and the only one back. */
import type * as z from 'zod/mini';
import { isToolName, TOOL_SCHEMAS, type ToolName, type ToolOutput } from '../toolSchemas.ts';
import type { AgentCall } from '../agentBranches.ts';
import { worktreeOf } from '../../workBranch/worktrees.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { branchTools } from './branchTools.ts';
import { computeTools } from './computeTools.ts';
import { describeCall } from './describeCall.ts';
import { sqlTools } from './sqlTool.ts';
import type { Caller, ToolDependencies, ToolFunction } from './toolCall.ts';

const TOOL_FUNCTIONS: { readonly [N in ToolName]: ToolFunction<N> } = {
  ...computeTools,
  ...branchTools,
  ...sqlTools,
};

/** @param name any text @returns the tool's output, without secrets @throws {Error} with a sentence for the model */
export async function runTool(
  deps: ToolDependencies,
  name: string,
  input: unknown,
  caller: Caller,
): Promise<object> {
  try {
    if (!isToolName(name)) throw new Error(`Unknown tool ${name}.`);
    const output = await run(deps, name, input, caller);
    const call = callOf(deps, name, caller, input, output);
    deps.log.info(logLine(call));
    remember(deps, call);
    return output;
  } catch (error) {
    const message = deps.log.clean(deps.explain(error));
    const call = callOf(deps, name, caller, input, undefined);
    deps.log.error(logLine(call), error);
    remember(deps, { ...call, text: deps.log.clean(`${call.text} (${message})`.trim()) });
    throw new Error(message);
  }
}

type Call = Omit<AgentCall, 'time'>;

/** Agents choose their names, and those of unknown tools. */
const callOf = (
  deps: ToolDependencies,
  tool: string,
  { agent }: Caller,
  input: unknown,
  output: unknown,
): Call => ({
  agent: sanitize(deps.log.clean(agent), 40),
  tool: sanitize(deps.log.clean(tool), 40),
  ...describeCall(deps.inventory, input, output),
});

const logLine = ({ agent, tool, text, branchId = '' }: Call): string =>
  [`${agent}: ${tool}`, text, text === branchId ? '' : branchId].filter((part) => part !== '').join(' ');

/** For the menu of agents, if the call was about a branch. The reply doesn't wait for it. */
function remember({ agentBranches, log }: ToolDependencies, call: Call): void {
  if (call.branchId === undefined) return;
  const remembered = agentBranches.addCall({ ...call, text: log.clean(call.text) });
  remembered.catch((error: unknown) => log.error('Remembering a call', error));
}

async function run<N extends ToolName>(deps: ToolDependencies, name: N, input: unknown, caller: Caller) {
  const { input: inputSchema, output: outputSchema, secretFields = [] } = TOOL_SCHEMAS[name];
  const parsed = inputSchema.safeParse(input ?? {});
  if (parsed.error !== undefined) throw new Error(inputProblem(parsed.error));
  const worktree = caller.folder && (await worktreeOf(caller.folder));
  const result = await TOOL_FUNCTIONS[name]({ ...caller, worktree, deps, input: parsed.data });
  // Only what the table describes leaves the program.
  const output: ToolOutput<N> = outputSchema.parse(result);
  const fields = Object.entries(output).map(([field, value]) => [
    field,
    secretFields.some((secret) => secret === field) ? value : clean(value, deps.log),
  ]);
  return Object.fromEntries(fields);
}

/** Redacts each text by itself, in case a record contains a key. */
function clean(value: unknown, log: ToolDependencies['log']): unknown {
  if (typeof value === 'string') return log.clean(value);
  if (Array.isArray(value)) return value.map((member) => clean(member, log));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clean(member, log)]));
}

/** What is wrong with an input, such as `computeId must be the id of a compute (ep-…).` */
function inputProblem({ issues: [issue] }: z.core.$ZodError): string {
  const field = issue?.path.join('.') || 'The input';
  if (issue?.code === 'unrecognized_keys') return `Unknown input ${issue.keys.join(', ')}.`;
  if (issue?.code === 'invalid_type') return `${field} must be of type ${issue.expected}.`;
  return `${field} ${issue?.message}.`;
}
