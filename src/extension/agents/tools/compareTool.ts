/** Compares two branches for agents: their schema, and the rows of a table or query. */
import * as z from 'zod/mini';
import type { RowComparison } from '../../database/rows/compareRows.ts';
import { tableLines, tableWidths } from '../../database/rows/formatRows.ts';
import { parseRowSource } from '../../database/rows/statements.ts';
import { SqlError } from '../../window/sqlError.ts';
import { branchTitle } from '../../inventory/names.ts';
import { schemaDiff } from '../../database/schema/compareSchemas.ts';
import { requireLoginRole } from '../agentLogin.ts';
import { findGatedBranch, findReadingLogin, isOwnBranch, type GatedBranch } from './agentPermissions.ts';
import { fittingText, MAX_OUTPUT, jsonBytes } from '../outputText.ts';
import {
  branchIdSchema,
  defineTool,
  optionalField,
  maxBytesSchema,
  projectIdSchema,
  READING_HINTS,
  truncationFields,
} from './tool.ts';
import type { ToolCall } from './toolCall.ts';

/** Limits of what the model has to read: rows of each side, and characters of a value. */
const MAX_ROWS = 20;
const MAX_VALUE = 200;
/** How many bytes of a result are kept free for fields other than the schema and the rows. */
const OTHER_FIELDS = 500;

export const compareTools = {
  compareSchema: defineTool({
    title: 'Compare schema',
    description: 'Returns how the schema of a branch differs from another, as a diff of SQL.',
    hints: READING_HINTS,
    input: z.strictObject({
      projectId: projectIdSchema,
      branchId: branchIdSchema,
      otherBranchId: optionalField(branchIdSchema, 'Default: the parent.'),
      database: z.optional(z.string()),
      rowsOf: optionalField(z.string(), 'Also compare rows of this table or query.'),
      maxBytes: maxBytesSchema,
    }),
    output: z.object({
      database: z.string(),
      differs: z.boolean(),
      diff: z.string(),
      rows: z.optional(z.string()),
      ...truncationFields,
    }),
    async run(call) {
      const { deps, input, signal } = call;
      const found = await findGatedBranch(call, input);
      const otherId = input.otherBranchId ?? found.branch.parent_id;
      if (!otherId) throw new Error(`${found.title} has no parent. Name the other branch.`);
      if (!found.list.branches.has(otherId)) throw new Error(`${found.projectId} has no branch ${otherId}.`);
      const { database } = await requireLoginRole({ ...call, ...found, database: input.database });
      const { projectId, branchId } = found;
      const [after = '', before = ''] = await Promise.all(
        [branchId, otherId].map((id) => deps.schemas.read({ projectId, branchId: id, database }, { signal })),
      );
      const diff = schemaDiff(before, after);
      const { rowsOf, maxBytes = MAX_OUTPUT } = input;
      const asked = { otherId, database, rowsOf: rowsOf ?? '' };
      const compared = rowsOf === undefined ? {} : await differingRows(call, found, asked);
      return { database, differs: diff !== '', ...shortenToFit(diff, compared, maxBytes - OTHER_FIELDS) };
    },
  }),
};

interface ComparedRows {
  readonly rows?: string;
  readonly note?: string;
}

/** Shortens a result. The rows get at most half of the space. */
function shortenToFit(diff: string, { rows, note }: ComparedRows, maxBytes: number) {
  const shownRows = rows === undefined ? undefined : fittingText(rows, maxBytes / 2);
  const shown = fittingText(diff, maxBytes - jsonBytes(shownRows));
  const isCut = shown !== diff || shownRows !== rows;
  const notes = [note, isCut ? 'For more, set maxBytes.' : undefined].filter((text) => text !== undefined);
  return {
    diff: shown.toWellFormed(),
    rows: shownRows,
    truncated: isCut || undefined,
    note: notes.join(' ') || undefined,
  };
}

/** The SQLSTATEs of a table or column that doesn't exist. */
const UNDEFINED = ['42P01', '42703'];

/** Returns only a note if a side doesn't have what is compared, such as a new table. @throws {Error} for the model */
async function differingRows(
  call: ToolCall<unknown>,
  found: GatedBranch,
  { otherId, database, rowsOf }: Readonly<Record<'otherId' | 'database' | 'rowsOf', string>>,
): Promise<ComparedRows> {
  const { list } = found;
  const ref = { ...found, branchId: otherId, title: branchTitle(otherId, list.branches.get(otherId)) };
  const other = { ...ref, isOwn: isOwnBranch(call, list, ref) };
  const loginOf = (branch: typeof other) => findReadingLogin(call, branch, { database, sql: rowsOf });
  const logins = { before: await loginOf(other), after: await loginOf(found) };
  // This import loads `pg`, which most windows never need.
  const { compareRows, NoTableError } = await import('../../database/rows/reading.ts');
  try {
    return { rows: differenceText(await compareRows(logins, parseRowSource(rowsOf), call.signal)) };
  } catch (error) {
    const isUndefined = error instanceof SqlError && UNDEFINED.includes(error.code ?? '');
    if (!isUndefined && !(error instanceof NoTableError)) throw error;
    return { note: `Rows weren't compared: ${call.deps.explain(error)}` };
  }
}

/**
 * Formats the difference like a diff. After the counts and the columns, lines with `-` are deleted rows and the old version of
 * changed rows, and lines with `+` are added rows and the new version of changed rows.
 */
function differenceText({
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
