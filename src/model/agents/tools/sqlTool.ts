/** Runs SQL for agents: reads any branch, and writes to the agent's own ones. */
import { findBranchLogin } from '../branchLogin.ts';
import { findGatedBranch } from './gate.ts';
import type { ToolFunction } from './toolCall.ts';

const MAX_ROWS = 100;

const runSql: ToolFunction<'runSql'> = async (call) => {
  const { deps, input, signal } = call;
  const { sql, database, write = false, maxRows = MAX_ROWS } = input;
  const { connection, isOwn, ...branch } = await findGatedBranch(deps, call, input);
  if (write && !isOwn)
    throw new Error(
      `You may only read ${branch.branchId}. Write to a branch that you have created and that the user hasn't marked.`,
    );
  const { login } = await findBranchLogin(deps.inventory, { ...branch, connection, database, signal });
  // Loads `pg`, which most windows never need.
  const model = await import('../runSql.ts');
  const { columns, rows, truncated, command } = await model.runSql(login, { sql, write, maxRows }, signal);
  return {
    columns: columns.map(({ name, type }) => `${name} (${type})`),
    rows: rows.map((row) => [...row]),
    truncated: truncated || undefined,
    command: write ? command : undefined,
  };
};

export const sqlTools = { runSql };
