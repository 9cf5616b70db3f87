/**
 * Rehearses SQL for agents, on a copy of a branch that is deleted at the end of the call. Only the local service can do this,
 * because it sees every statement.
 */
import * as z from 'zod/mini';
import { sanitize } from '../../../../base/sanitize.ts';
import type { RehearsalReport } from '../../../../rehearsal/report.ts';
import { ENGLISH_TEXTS, reportNotes } from '../../../../rehearsal/text/terminalReport.ts';
import { projectName } from '../../../inventory/names.ts';
import { rehearseOnCopy } from '../../../database/rehearsals/rehearseOnCopy.ts';
import { requireLoginRole } from '../../agentLogin.ts';
import { findGatedBranch } from '../agentPermissions.ts';
import { cutValue, fittingItems, MAX_OUTPUT, jsonBytes } from '../../outputText.ts';
import {
  ADDING_HINTS,
  branchIdSchema,
  defineTool,
  optionalField,
  projectIdSchema,
  truncationFields,
  wholeNumber,
} from '../tool.ts';
import type { ToolCall } from '../toolCall.ts';

/** The most characters of a statement that the result repeats. */
const MAX_TEXT = 120;
/** The most characters of a sentence, in which Postgres may quote a value of any length. */
const MAX_SENTENCE = 1000;
/** How many bytes of a result are kept free for fields other than lists. */
const OTHER_FIELDS = 500;

const input = z.strictObject({
  projectId: projectIdSchema,
  branchId: branchIdSchema,
  sql: z.string(),
  down: z.optional(z.string()),
  database: z.optional(z.string()),
  maxLockMs: optionalField(wholeNumber(0, 3_600_000), 'How long others may wait, default 1000.'),
});

const output = z.object({
  verdict: z.enum(['safe', 'dangerous', 'failed']),
  sentences: z.array(z.string()),
  blocked: z.array(z.object({ table: z.string(), blocks: z.string(), ms: z.number() })),
  lost: z.array(z.object({ name: z.string(), kind: z.string(), count: z.number() })),
  rewritten: z.array(z.string()),
  statements: z.array(
    z.object({
      sql: z.string(),
      ms: z.number(),
      error: z.optional(z.string()),
      safer: z.optional(z.string()),
    }),
  ),
  ...truncationFields,
});

export const rehearseTools = {
  rehearse: defineTool({
    title: 'Rehearse migration',
    description:
      'Runs the SQL of a migration on a copy of a branch and deletes it. Returns which tables it blocks for how long, what it loses and where it fails. dblink and foreign tables reach out. Local service only.',
    hints: { ...ADDING_HINTS, idempotentHint: true },
    // The tool changes only a copy of the branch.
    onlyReads: () => true,
    input,
    output,
    async run(call) {
      const { deps, connection, agent, signal } = call;
      const { projectId, branchId, sql, down, maxLockMs } = call.input;
      const { isLocal } = connection;
      if (!isLocal)
        throw new Error(
          'Only the local service can rehearse. Create a branch with createBranch, and run the migration there.',
        );
      const { branch, title } = await findGatedBranch(call, call.input);
      if (branch.expires_at)
        throw new Error(`${title} expires, so it can't be copied. Rehearse on the branch that it is for.`);
      const { database } = await requireLoginRole({ ...call, ...call.input });
      const name = projectName(deps.inventory, projectId);
      await deps.approve({ kind: 'create', projectId, name, agent, limit: undefined }, connection, signal);
      const failure: { message?: string } = {};
      const noteFailure = (message: string) => void (failure.message = message);
      const run = sqlRunner(call, sql, noteFailure);
      const parent = { projectId, branchId };
      const back = down === undefined ? undefined : { run: sqlRunner(call, down, noteFailure) };
      const rehearsal = { parent, database, longestLock: maxLockMs, run, down: back };
      return reportOutput(await rehearseOnCopy(deps, connection, rehearsal, signal), failure.message);
    },
  }),
};

/** @param onFailure receives the message of a failure, which the report may not know, such as that the SQL has a command of psql */
const sqlRunner =
  ({ signal }: ToolCall<unknown>, sql: string, onFailure: (message: string) => void) =>
  async ({ login }: Parameters<Parameters<typeof rehearseOnCopy>[2]['run']>[0]): Promise<number> => {
    // This import loads `pg`, which most windows never need.
    const { runScriptByDriver } = await import('../../../database/sql/runFile.ts');
    const ignore = () => undefined;
    try {
      await runScriptByDriver(login, Buffer.from(sql), { onResult: ignore, onText: ignore }, signal);
      return 0;
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error instanceof Error ? error.message : String(error));
      return 1;
    }
  };

/** Returns a report for the model, with the first items of each list, as many as fit. */
function reportOutput(report: RehearsalReport, failure: string | undefined): z.infer<typeof output> {
  const { verdict, blocked, losses, rewritten } = report;
  const all = [...report.statements, ...(report.wayBack?.statements ?? [])];
  const isKnown = all.some(({ error }) => error !== undefined);
  const sentences = [
    ...(failure === undefined || isKnown ? [] : [failure]),
    ...ENGLISH_TEXTS.verdictSentences(report),
    ...reportNotes(report),
  ];
  const statements = report.statements.map(({ text, milliseconds, error }, index) => {
    const safer = ENGLISH_TEXTS.saferTexts(report.safer, index);
    return {
      sql: sanitize(text, MAX_TEXT),
      ms: roundToTenths(milliseconds),
      error: error && cutValue(error.message, MAX_SENTENCE),
      safer: safer.length === 0 ? undefined : safer.join(' '),
    };
  });
  const { fit, isCut } = fittingLists(MAX_OUTPUT - OTHER_FIELDS);
  const lists = {
    sentences: fit(sentences.map((sentence) => cutValue(sentence, MAX_SENTENCE))),
    blocked: fit(
      blocked.map(({ table, blocks, milliseconds }) => ({ table, blocks, ms: roundToTenths(milliseconds) })),
    ),
    lost: fit(losses.map(({ name, kind, count }) => ({ name, kind, count }))),
    rewritten: fit(rewritten.map(({ table }) => table)),
    statements: fit(statements, 1),
  };
  return { verdict, ...lists, truncated: isCut() || undefined };
}

/** Shortens lists one after the other. Each gets a part of what is left, so that one that is long leaves something to the next. */
function fittingLists(maxBytes: number) {
  let left = maxBytes;
  let isCut = false;
  const fit = <T>(items: readonly T[], part = 0.5): T[] => {
    const fitting = fittingItems(items, left * part);
    left -= jsonBytes(fitting);
    isCut ||= fitting.length < items.length;
    return [...fitting];
  };
  return { fit, isCut: () => isCut };
}

const roundToTenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
