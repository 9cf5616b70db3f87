/** A call of a tool as text for the log and for the menu of agents. */
import { fieldsOf } from '../../../base/fieldsOf.ts';
import type { AgentCall } from '../agentBranches.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { sanitize } from '../../../base/sanitize.ts';

const MAX_LENGTH = 120;

/** @param output undefined if the call has failed */
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
    text: sanitize(subject === sql ? withoutValues(subject ?? '') : (subject ?? ''), MAX_LENGTH),
    branchId: typeof branchId === 'string' ? branchId : compute?.branch_id,
  };
}

/** Strings in SQL may be passwords. Where one ends depends on settings of the server, so nothing after the first is shown. */
function withoutValues(sql: string): string {
  const start = sql.search(/'|\$\w*\$/);
  return start === -1 ? sql : `${sql.slice(0, start)}…`;
}
