/** The tools that read and change branches. */
import { endedSlotsMessage } from '../../../api/rules/endedSlots.ts';
import { findEndingSlots } from '../../branches/endingSlots.ts';
import * as z from 'zod/mini';
import { deletionProblem } from '../../inventory/branchStatus.ts';
import type { AgentBranch } from '../../inventory/agentBranches.ts';
import { branchTitle } from '../../inventory/names.ts';
import type { SendOptions, SendResult } from '../../operations/changeSender.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';
import { clearAgentEnv, renewAgentLogin } from './agentEnv.ts';
import { findAgentProject } from './agentProject.ts';
import { changeBranch } from './branchChange.ts';
import { createBranchTool } from './createBranchTool.ts';
import { findGatedBranch, isOwnBranch, requireFreshBranches, type GatedBranch } from './agentPermissions.ts';
import { fittingItems, MAX_OUTPUT } from '../outputText.ts';
import {
  branchIdSchema,
  defineTool,
  optionalField,
  INTERRUPTING_HINTS,
  joinNotes,
  projectIdSchema,
  READING_HINTS,
  truncationFields,
  skipNote,
  itemsToSkipSchema,
} from './tool.ts';
import type { ToolCall } from './toolCall.ts';

/** The most branches of a list, because a model has to read it. */
const MAX_BRANCHES = 100;
/** How many bytes of a result are kept free for fields other than the list. */
const OTHER_FIELDS = 500;

const ids = { projectId: projectIdSchema, branchId: branchIdSchema };
const change = z.object({
  branchId: z.string(),
  pending: z.optional(z.boolean()),
  note: z.optional(z.string()),
});

export const branchTools = {
  listBranches: defineTool({
    title: 'List branches',
    description: 'Lists the branches of a project. Change only yours.',
    hints: READING_HINTS,
    input: z.strictObject({
      projectId: optionalField(projectIdSchema, "Default: the folder's or the only project."),
      skip: itemsToSkipSchema,
    }),
    output: z.object({
      projectId: z.string(),
      branches: z.array(
        z.object({
          branchId: z.string(),
          name: z.string(),
          parentId: z.optional(z.string()),
          state: z.string(),
          isDefault: z.boolean(),
          isProtected: z.boolean(),
          isYours: z.boolean(),
          expiresAt: z.optional(z.string()),
        }),
      ),
      branchesLeftOut: z.optional(z.number()),
      ...truncationFields,
    }),
    async run(call) {
      const { account, input } = call;
      const { projectId } = await findAgentProject(call);
      const list = await requireFreshBranches(call, projectId);
      const { skip = 0 } = input;
      const all = [...list.branches.values()].slice(skip);
      const listed = all.slice(0, MAX_BRANCHES).map((branch) => ({
        branchId: branch.id,
        name: displayName(branch),
        parentId: branch.parent_id ?? undefined,
        state: sanitize(branch.current_state ?? 'ready'),
        isDefault: branch.default === true,
        isProtected: branch.protected === true,
        isYours: isOwnBranch(call, list, { account, projectId, branchId: branch.id }),
        expiresAt: branch.expires_at ?? undefined,
      }));
      const branches = [...fittingItems(listed, MAX_OUTPUT - OTHER_FIELDS)];
      const branchesLeftOut = all.length - branches.length || undefined;
      return { projectId, branches, branchesLeftOut, ...skipNote(branchesLeftOut, skip + branches.length) };
    },
  }),

  createBranch: createBranchTool,

  resetBranch: defineTool({
    title: 'Reset branch',
    description: "Replaces a branch's data with its parent's. Asks the user unless the branch is yours.",
    hints: INTERRUPTING_HINTS,
    input: z.strictObject(ids),
    output: change,
    async run(call) {
      const { deps } = call;
      const found = await findGatedBranch(call, call.input);
      const parent = found.branch.parent_id;
      if (!parent) throw new Error(`${found.title} has no parent, so it can't be reset.`);
      const title = branchTitle(parent, found.list.branches.get(parent));
      const reset = (options: SendOptions) => deps.branchActions.reset(found, parent, options);
      // This comes before the reset, so that the passwords are forgotten even if the call ends early.
      deps.agentBranches.edit(found, () => ({ ownPasswords: undefined }));
      const result = await changeApproved(call, found, { kind: 'reset', parent: title }, reset);
      const note = await renewAgentLogin(call, found, result);
      return { ...result, note: joinNotes(note, result.note) };
    },
  }),

  deleteBranch: defineTool({
    title: 'Delete branch',
    description: 'Deletes a branch with its data. Asks the user unless the branch is yours.',
    hints: INTERRUPTING_HINTS,
    input: z.strictObject(ids),
    output: change,
    async run(call) {
      const { deps } = call;
      const found = await findGatedBranch(call, call.input);
      const problem = deletionProblem(found.list, found.branch);
      if (problem?.kind === 'default' || problem?.kind === 'root')
        throw new Error(`${found.title} is the ${problem.kind} branch, so it can't be deleted.`);
      const remove = (options: SendOptions) =>
        deps.branchActions.delete(found, { unprotect: false }, options);
      const result = await changeApproved(call, found, { kind: 'delete' }, remove);
      // The URL is cleared even before the deletion has ended, because it is of no more use.
      const note = await clearAgentEnv(call, found);
      const kept = deps.agentBranches.keptFor(found);
      // The deletion may still fail, and the agent then needs its branch. `AgentBranches.update` removes one that is gone.
      if (result.pending === true) return { ...result, note: joinNotes(note, deleteKeptLater(kept)) };
      deps.agentBranches.remove(found);
      return { ...result, note: joinNotes(note, await deleteKeptBranches(call, kept)) };
    },
  }),
};

const deleteKeptLater = (kept: readonly AgentBranch[]): string | undefined =>
  kept.length === 0
    ? undefined
    : `Once it is deleted, also delete what undos have kept of it: ${kept.map(({ branchId }) => branchId).join(', ')}.`;

/**
 * Deletes the branches that undos of a deleted branch have kept, because they are of no more use.
 * @returns a note for the agent about what couldn't be deleted
 */
async function deleteKeptBranches(
  call: ToolCall<unknown>,
  kept: readonly AgentBranch[],
): Promise<string | undefined> {
  const { deps } = call;
  const problems: string[] = [];
  for (const branch of kept) {
    try {
      const found = await findGatedBranch(call, branch);
      if (!found.isOwn) throw new Error('It is no longer yours.');
      const remove = (options: SendOptions) =>
        deps.branchActions.delete(found, { unprotect: false }, options);
      const { pendingId } = await changeBranch(call, remove);
      const note = await clearAgentEnv(call, branch);
      if (note !== undefined) problems.push(note);
      if (pendingId === undefined) deps.agentBranches.remove(branch);
    } catch (error) {
      problems.push(`Couldn't delete ${branch.name}, which an undo has kept: ${deps.explain(error)}`);
    }
  }
  return joinNotes(...problems);
}

/**
 * Makes a change, and asks the user before unless the branch is the agent's own. A protected branch or a parent isn't changed even
 * with approval.
 */
async function changeApproved(
  call: ToolCall<unknown>,
  { isOwn, branch, list, title: name, ...ref }: GatedBranch,
  what: { readonly kind: 'reset'; readonly parent: string } | { readonly kind: 'delete' },
  send: (options: SendOptions) => Promise<SendResult>,
): Promise<z.infer<typeof change>> {
  const { deps, agent, connection, signal } = call;
  const { projectId, branchId } = ref;
  if (branch.protected === true) throw new Error(`${name} is protected. Only the user can unprotect it.`);
  const [child] = list.childrenOf(branchId);
  if (child !== undefined) throw new Error(`${name} has child branches, such as ${displayName(child)}.`);
  const slots = what.kind === 'reset' ? await findEndingSlots(connection, ref, signal) : [];
  const target = { projectId, branchId, name, agent };
  const asked = what.kind === 'reset' ? { ...what, ...target, slots } : { ...what, ...target };
  if (!isOwn) await deps.approve(asked, connection, signal);
  const { pendingId } = await changeBranch(call, send);
  return { branchId, pending: pendingId !== undefined || undefined, note: endedSlotsMessage(slots) };
}
