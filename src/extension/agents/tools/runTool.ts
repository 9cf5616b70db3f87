/** Runs a tool for VS Code's chat and for MCP clients. All calls go this way, and all results come back this way, without known secrets. */
import { fieldsOf } from '../../../base/fieldsOf.ts';
import { UNNAMED_AGENT, type AgentCall } from '../../inventory/agentBranches.ts';
import { SqlError } from '../../window/sqlError.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { findWorktree } from '../../gitBranch/worktrees.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { withoutLiteralValues } from './sql/sqlTool.ts';
import type { ToolCaller, ToolDependencies } from './toolCall.ts';
import { joinNotes } from './tool.ts';
import { findTool } from './toolTable.ts';

/** @param name any text @returns the tool's output, without secrets @throws {Error} with a sentence for the model */
export async function runTool(
  deps: ToolDependencies,
  name: string,
  input: unknown,
  caller: ToolCaller,
): Promise<object> {
  const { log } = deps;
  // Agents choose their own names, and can name tools that don't exist.
  const agent = sanitize(caller.agent, 40) || UNNAMED_AGENT;
  const who = { agent: sanitize(log.clean(agent), 40), tool: sanitize(log.clean(name), 40) };
  try {
    const output = await runWithConnection(deps, name, input, { ...caller, agent });
    const call = { ...who, ...describeCall(deps.inventory, input, output) };
    log.info(logLine(call));
    noteCall(deps, call);
    return output;
  } catch (error) {
    const message = log.clean(deps.explain(error));
    const call = { ...who, ...describeCall(deps.inventory, input, undefined) };
    // Neither the log nor the stored calls get values of the database.
    const shown = error instanceof SqlError ? error.summary : undefined;
    log.error(logLine(call), shown ?? error);
    noteCall(deps, { ...call, failure: log.clean(shown ?? message) });
    throw new Error(message);
  }
}

type Call = Omit<AgentCall, 'time'>;

const logLine = ({ agent, tool, text, branchId = '' }: Call): string =>
  [`${agent}: ${tool}`, text, text === branchId ? '' : branchId].filter((part) => part !== '').join(' ');

/** Notes the call for the menu of agents, if it was about a branch. */
function noteCall({ agentBranches, log }: ToolDependencies, call: Call): void {
  if (call.branchId === undefined) return;
  try {
    agentBranches.addCall({ ...call, text: log.clean(call.text) });
  } catch (error) {
    log.error('Remembering a call', error);
  }
}

async function runWithConnection(
  deps: ToolDependencies,
  name: string,
  input: unknown,
  caller: ToolCaller,
): Promise<object> {
  const tool = findTool(name);
  if (tool === undefined) throw new Error(`Unknown tool ${name}.`);
  const { secretFields = [] } = tool;
  const connection = deps.session.requireConnection();
  const account = connection.accountId;
  const worktree = caller.folder && (await findWorktree(caller.folder));
  // A failure may become a note of the result, so secrets are removed from it.
  const explain = (error: unknown) => deps.log.clean(deps.explain(error));
  const output = await tool.run({
    ...caller,
    worktree,
    deps: { ...deps, explain },
    connection,
    account,
    input,
  });
  return withoutKnownSecrets(output, deps.log, secretFields);
}

/** Hides known secrets, and says so. All else is exact, because agents may write it back. */
function withoutKnownSecrets(
  output: object,
  log: ToolDependencies['log'],
  secretFields: readonly string[],
): object {
  let isChanged = false;
  const hide = (field: string, value: unknown) => {
    if (typeof value !== 'string' || secretFields.includes(field)) return value;
    const shown = log.hideKnownSecrets(value);
    isChanged ||= shown !== value;
    return shown;
  };
  const result = JSON.parse(JSON.stringify(output, hide));
  if (!isChanged) return result;
  const { note } = fieldsOf(result);
  return { ...result, note: joinNotes(typeof note === 'string' && note, SECRETS_HIDDEN) };
}

const SECRETS_HIDDEN =
  'Where the result has ‹redacted›, the data has a key or password of the user. Never write ‹redacted› back.';

/** Describes a call for the log and for the menu of agents. @param output undefined if the call has failed */
export function describeCall(
  inventory: Pick<Inventory, 'compute'>,
  input: unknown,
  output: unknown,
): Pick<AgentCall, 'text' | 'branchId'> {
  const { projectId, branchId, computeId, name, sql } = { ...fieldsOf(input), ...fieldsOf(output) };
  const compute =
    typeof projectId === 'string' && typeof computeId === 'string'
      ? inventory.compute(projectId, computeId)
      : undefined;
  const [subject] = [sql, name, computeId, branchId].filter((value) => typeof value === 'string');
  return {
    text: sanitize(subject === sql ? withoutLiteralValues(subject ?? '') : (subject ?? ''), 120),
    branchId: typeof branchId === 'string' ? branchId : compute?.branch_id,
  };
}
