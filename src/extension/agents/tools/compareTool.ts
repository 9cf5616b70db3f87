/** Compares two branches for agents: their schema, and the rows of a table or query. */
import * as z from 'zod/mini';
import type { RowComparison } from '../../database/rows/compareRows.ts';
import { tableLines, tableWidths } from '../../database/rows/formatRows.ts';
import { rowSourceOf } from '../../database/rows/statements.ts';
import { branchTitle } from '../../inventory/names.ts';
import { schemaDiff } from '../../database/schema/compareSchemas.ts';
import { requireOwner } from '../agentLogin.ts';
import { findGatedBranch, findReadingLogin, isOwnBranch, type GatedBranch } from './agentPermissions.ts';
import { branchIdSchema, defineTool, described, projectIdSchema, READS } from './tool.ts';
import type { ToolCall } from './toolCall.ts';

/** Limits of what the model has to read: characters of the diff, rows of each side, and characters of a value. */
const MAX_DIFF = 20_000;
const MAX_ROWS = 20;
const MAX_VALUE = 200;

export const compareTools = {
  compareSchema: defineTool({
    title: 'Compare schema',
    description: 'Returns how the schema of a branch differs from another, as a diff of SQL.',
    hints: READS,
    input: z.strictObject({
      projectId: projectIdSchema,
      branchId: branchIdSchema,
      otherBranchId: described(branchIdSchema, 'Default: the parent.'),
      database: z.optional(z.string()),
      rowsOf: described(z.string(), 'Also compare rows of this table or query.'),
    }),
    output: z.object({
      database: z.string(),
      differs: z.boolean(),
      diff: z.string(),
      truncated: z.optional(z.boolean()),
      rows: z.optional(z.string()),
    }),
    async run(call) {
      const { deps, input, signal } = call;
      const found = await findGatedBranch(call, input);
      const otherId = input.otherBranchId ?? found.branch.parent_id;
      if (!otherId) throw new Error(`${found.title} has no parent. Name the other branch.`);
      if (!found.list.branches.has(otherId)) throw new Error(`${found.projectId} has no branch ${otherId}.`);
      const { database } = await requireOwner({ ...call, ...found, database: input.database });
      const { projectId, branchId } = found;
      const [after = '', before = ''] = await Promise.all(
        [branchId, otherId].map((id) => deps.schemas.read({ projectId, branchId: id, database }, { signal })),
      );
      const diff = schemaDiff(before, after);
      const shown = diff.slice(0, MAX_DIFF);
      const { rowsOf } = input;
      return {
        database,
        differs: diff !== '',
        diff: shown.toWellFormed(),
        truncated: shown !== diff || undefined,
        rows:
          rowsOf === undefined ? undefined : await differingRows(call, found, { otherId, database, rowsOf }),
      };
    },
  }),
};

/** @throws {Error} with a sentence for the model */
async function differingRows(
  call: ToolCall<unknown>,
  found: GatedBranch,
  { otherId, database, rowsOf }: Readonly<Record<'otherId' | 'database' | 'rowsOf', string>>,
): Promise<string> {
  const { list } = found;
  const ref = { ...found, branchId: otherId, title: branchTitle(otherId, list.branches.get(otherId)) };
  const other = { ...ref, isOwn: isOwnBranch(call, list, ref) };
  const loginOf = (branch: typeof other) => findReadingLogin(call, branch, { database, sql: rowsOf });
  const logins = { before: await loginOf(other), after: await loginOf(found) };
  // Loads `pg`, which most windows never need.
  const { compareRows } = await import('../../database/rows/compareRows.ts');
  return differenceOf(await compareRows(logins, rowSourceOf(rowsOf), call.signal));
}

/** Like a diff: the counts, the columns, then deleted rows and changed ones as they were (-), and added and changed ones (+). */
function differenceOf({
  columns,
  rightAligned,
  added,
  changed,
  deleted,
  before,
  after,
}: RowComparison): string {
  const tables = [before, after].map((rows) => ({
    columns,
    rightAligned,
    rows: rows.slice(0, MAX_ROWS).map(({ cells }) => cells),
  }));
  const widths = tableWidths(tables, MAX_VALUE);
  const [deletions = [], additions = []] = tables.map((table) => tableLines(table, MAX_VALUE, widths));
  const isCut = Math.max(before.length, after.length) > MAX_ROWS;
  return [
    `${added} added, ${changed} changed, ${deleted} deleted`,
    ...deletions.slice(0, 2).map((line) => ` ${line}`),
    ...deletions.slice(2).map((line) => `-${line}`),
    ...additions.slice(2).map((line) => `+${line}`),
    ...(isCut ? [`Only the first ${MAX_ROWS} of each are shown.`] : []),
  ].join('\n');
}
