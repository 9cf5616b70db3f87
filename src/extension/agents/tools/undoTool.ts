/**
 * Undo for agents. One tool lists the moments and goes back to one, because a model reads every tool with each request, and
 * would otherwise have to find two that belong together.
 */
import * as z from 'zod/mini';
import { isBranchId } from '../../../api/records/ids.ts';
import type { SchemaChange } from '../../../api/records/records.ts';
import { pointInTimeParameter } from '../../../api/records/pointInTime.ts';
import { branchTitle } from '../../inventory/names.ts';
import { endedSlotsMessage } from '../../../api/rules/endedSlots.ts';
import { readGitState } from '../../gitBranch/gitState.ts';
import { findRepository } from '../../../base/git/repository.ts';
import { findEndingSlots } from '../../branches/endingSlots.ts';
import { branchHistory, timeProblem } from '../../history/knownHistory.ts';
import { readHeadLog } from '../../history/headLog.ts';
import { schemaChangesLoader } from '../../history/momentChanges.ts';
import {
  earliestMoment,
  gitEventsOfBranch,
  listMoments,
  restoreSourceAt,
  type BranchHistory,
  type Moment,
} from '../../history/moments.ts';
import { type RestoreSource } from '../../account/refs.ts';
import { parseMoment } from '../../history/parseMoment.ts';
import { preservedName, undoBranch } from '../../history/undoBranch.ts';
import { branchesOfFolder } from '../branchesOfFolder.ts';
import { findGatedBranch, type GatedBranch } from './agentPermissions.ts';
import { MAX_OPERATIONS_WAIT } from './branchChange.ts';
import { fittingItems, MAX_OUTPUT } from '../outputText.ts';
import {
  ADDING_HINTS,
  branchIdSchema,
  defineTool,
  optionalField,
  INTERRUPTING_HINTS,
  projectIdSchema,
  truncationFields,
} from './tool.ts';
import type { ToolCall } from './toolCall.ts';

/** How many bytes of a result are kept free for fields other than the list. */
const OTHER_FIELDS = 500;

export const undoTools = {
  undo: defineTool({
    title: 'Undo',
    description:
      'Restores a branch to an earlier time; another branch keeps its data. Without to, lists moments. Asks the user unless the branch is yours.',
    hints: { ...INTERRUPTING_HINTS, idempotentHint: false },
    onlyReads: ({ to }) => to === undefined,
    input: z.strictObject({
      projectId: projectIdSchema,
      branchId: branchIdSchema,
      to: optionalField(z.string(), 'From the list, 20 min ago, or an ISO time.'),
    }),
    output: z.object({
      branchId: z.string(),
      moments: z.optional(z.array(z.object({ to: z.string(), before: z.string() }))),
      keptAs: z.optional(z.string()),
      pending: z.optional(z.boolean()),
      ...truncationFields,
    }),
    async run(call) {
      const found = await findGatedBranch(call, call.input);
      const gitEvents = found.isOwn ? await readGitEvents(call) : [];
      const history = await branchHistory(call.deps, found, {
        list: found.list,
        isLocal: call.connection.isLocal,
        gitEvents,
      });
      const { to } = call.input;
      const problem = timeProblem(found.branch, history, call.connection.isLocal);
      const changes =
        problem === undefined ? schemaChangesLoader({ session: call, log: call.deps.log }, found) : undefined;
      const known = { ...history, schemaChanges: (await changes?.()) ?? [] };
      if (to !== undefined)
        return await undoForAgent(call, found, requireSource(found, { history: known, to, problem }));
      const all = listMoments(known).filter(({ kind }) => problem === undefined || kind === 'undo');
      const moments = fittingItems(all.map(momentOutput), MAX_OUTPUT - OTHER_FIELDS);
      const isCut = moments.length < all.length;
      const note = problem === undefined ? isCut && MORE_MOMENTS : PROBLEMS[problem];
      return {
        branchId: found.branchId,
        moments: [...moments],
        truncated: isCut || undefined,
        note: note || undefined,
      };
    },
  }),
};

/**
 * The tool for the hook that agents run before each turn (`mcp/hook.ts`). It isn't in the list of tools, where models would read it
 * with each request.
 */
export const markTurn = defineTool({
  title: 'Mark Turn',
  description: 'Marks a moment that undo offers.',
  hints: ADDING_HINTS,
  input: z.strictObject({
    turn: optionalField(z.string(), 'The same in all calls of a turn, which marks one moment.'),
  }),
  output: z.object({ marked: z.array(z.string()) }),
  async run({ deps, account, agent, worktree, input: { turn } }) {
    const branches = worktree === undefined ? [] : await branchesOfFolder(deps, account, worktree);
    for (const branch of branches) deps.markers.add(branch, { kind: 'agent', text: '', by: agent, turn });
    return { marked: branches.map(({ branchId }) => branchId) };
  },
});

const PROBLEMS = {
  noHistory: 'The project keeps no history.',
  notRoot: 'The branch has a parent, and this service restores only root branches to an earlier time.',
};

const MORE_MOMENTS = 'Only the latest moments are listed. to may be any earlier time as well.';

/** Reads git's log of the agent's worktree, in which the agent uses its own branch. */
async function readGitEvents({ deps, worktree }: ToolCall<unknown>) {
  const repository = worktree === undefined ? undefined : await findRepository(worktree);
  if (repository === undefined) return [];
  const { branch } = await readGitState(repository, deps.runGit);
  return gitEventsOfBranch(await readHeadLog(repository, branch), () => true);
}

/** Names a moment by its time even if its position is known, because after another undo, the same position may have other data. */
const sourceName = ({ branchId, at }: RestoreSource): string =>
  at === undefined ? branchId : (at.timestamp ?? pointInTimeParameter(at));

function momentOutput({ time, source, ...moment }: Moment): { readonly to: string; readonly before: string } {
  const to = sourceName(source);
  switch (moment.kind) {
    case 'undo':
      return { to, before: `the undo at ${new Date(time).toISOString()}` };
    case 'agent':
      return { to, before: `${moment.by}: ${moment.text || 'its turn'}` };
    case 'created':
      return { to, before: 'everything: as the branch was created' };
    case 'ago':
      return { to, before: `the last ${moment.seconds / 60} minutes` };
    case 'mark':
      return { to, before: `the moment that the user named ${JSON.stringify(moment.text)}` };
    case 'program':
      return { to, before: moment.text };
    case 'schema':
      return { to, before: schemaText(moment) };
    case 'snapshot':
      return { to, before: `the snapshot ${JSON.stringify(moment.text)}` };
    default:
      return { to, before: `git ${moment.kind} ${moment.text} (${moment.commit})` };
  }
}

/** Returns text such as `a change of the schema (1 migrations, 2 created)`. */
function schemaText(change: Omit<SchemaChange, 'before' | 'lsn'>): string {
  const { deleted, tables = 1 } = change;
  if (deleted !== undefined) return `${deleted} rows${tables > 1 ? ` of ${tables} tables` : ''} were deleted`;
  const kinds = ['migrations', 'created', 'altered', 'dropped', 'truncated'] as const;
  const counts = kinds.filter((kind) => change[kind] > 0).map((kind) => `${change[kind]} ${kind}`);
  return `a change of the schema${counts.length === 0 ? '' : ` (${counts.join(', ')})`}`;
}

interface Target {
  readonly history: BranchHistory;
  readonly to: string;
  readonly problem: keyof typeof PROBLEMS | undefined;
}

/** @throws {Error} with a message for the agent */
function requireSource({ branch, list }: GatedBranch, { history, to, problem }: Target): RestoreSource {
  const moment = listMoments(history).find(({ source }) => sourceName(source) === to);
  if (moment?.kind === 'undo') return moment.source;
  if (isBranchId(to))
    throw new Error(`No undo of ${branch.id} has kept ${branchTitle(to, list.branches.get(to))}.`);
  if (problem !== undefined) throw new Error(PROBLEMS[problem]);
  if (moment !== undefined) return moment.source;
  const earliest = earliestMoment(history);
  const point = parseMoment(to, { now: Date.now(), earliest });
  if (point === undefined) throw new Error('to must be a time such as 20 min ago or 2026-01-31T14:32:10Z.');
  if (!('problem' in point)) return restoreSourceAt(history, point);
  if (point.problem === 'ambiguous')
    throw new Error(
      `to may be a date or a position. Write the date as 2026-01-31T14:32:10Z, or the position as ${point.lsn}.`,
    );
  const reasons = {
    skipped: 'A change of the clocks skipped this local time.',
    future: 'This time is in the future.',
    tooOld: `The history of ${branch.id} begins at ${new Date(earliest).toISOString()}.`,
  };
  throw new Error(reasons[point.problem]);
}

/**
 * Makes an undo, and asks the user before unless the branch is the agent's own.
 * @throws {ApiError} @throws {Error} with a message for the agent
 */
async function undoForAgent(call: ToolCall<unknown>, found: GatedBranch, source: RestoreSource) {
  const { deps, agent, worktree, connection, signal } = call;
  const { account, projectId, branchId, title: name, branch } = found;
  if (branch.protected === true) throw new Error(`${name} is protected. Only the user can unprotect it.`);
  const preserved = preservedName(found.list);
  const to = sourceName(source);
  const slots = await findEndingSlots(connection, found, signal);
  const change = { kind: 'undo', to, preserved, slots, projectId, branchId, name, agent } as const;
  if (!found.isOwn) await deps.approve(change, connection, signal);
  const made = deps.agentBranches.find(found);
  const stop = AbortSignal.any([signal, AbortSignal.timeout(MAX_OPERATIONS_WAIT)]);
  const options = { signal, initialConnection: connection };
  const { pendingId } = await undoBranch(deps, found, { source, name: preserved }, options, stop);
  const kept = deps.inventory.branches.forProject(projectId)?.findByName(preserved);
  // The branch that keeps the data of the agent's own branch is the agent's as well.
  if (kept !== undefined && made !== undefined && found.isOwn) {
    const { expiresAt } = made;
    const createdAt = new Date().toISOString();
    deps.agentBranches.add({
      account,
      projectId,
      branchId: kept.id,
      name: preserved,
      agent,
      worktree,
      createdAt,
      expiresAt,
      keptFor: branchId,
    });
  }
  const keptAs = `${preserved}${kept === undefined ? '' : ` (${kept.id})`}`;
  if (pendingId === undefined) keepOwnPasswords(call, found);
  return { branchId, keptAs, pending: pendingId !== undefined || undefined, note: endedSlotsMessage(slots) };
}

/**
 * Notes that the roles still have their own passwords after an undo. Agents' branches have a parent. Only the local service takes
 * such a branch back to an earlier time, and keeps the passwords.
 */
function keepOwnPasswords({ deps }: ToolCall<unknown>, ref: GatedBranch): void {
  const { agentBranches, inventory } = deps;
  const own = agentBranches.find(ref)?.ownPasswords;
  const lastReset = inventory.branches.get(ref.projectId, ref.branchId)?.last_reset_at ?? undefined;
  if (own !== undefined) agentBranches.edit(ref, () => ({ ownPasswords: { ...own, lastReset } }));
}
