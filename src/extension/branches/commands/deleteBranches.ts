/** Deletes several branches after a single approval. */
import { l10n } from 'vscode';
import type { BranchList } from '../../inventory/branchLists.ts';
import { loadedComputes } from '../../inventory/branchStatus.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { droppedPsqlText } from '../../operations/ui/openPsql.ts';
import { makeChange } from '../../commandSupport/change.ts';
import type { CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { requireBranches } from '../../commandSupport/branchPicker.ts';
import type { SendOptions, SendResult } from '../../operations/changeSender.ts';
import { finishChange } from '../../operations/finishChange.ts';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';

/**
 * Loads the branches of each of these projects that wasn't deleted.
 * @throws {Error} if a list can't be loaded. The last known list isn't used instead, because it may lack a child or a new branch
 */
export async function loadBranchLists(
  context: CommandContext,
  projectIds: Iterable<string>,
): Promise<ReadonlyMap<string, BranchList>> {
  const { projects } = context.inventory;
  await projects?.load();
  const lists = new Map<string, BranchList>();
  for (const projectId of new Set(projectIds)) {
    if (projects?.entries.has(projectId) !== true) continue;
    lists.set(projectId, await requireBranches(context, projectId));
  }
  return lists;
}

/** A branch that the user can choose to delete. */
export interface DeletableBranch {
  readonly ref: BranchRef;
  /** What the user enters to confirm the deletion in production. */
  readonly title: string;
  /** Called once the branch is deleted. */
  readonly forget: () => Promise<void>;
}

/** @param reload called after the approval, because branches may be in use again, protected or marked since the user was asked */
export async function deleteBranches(
  context: CommandContext,
  run: CommandRun,
  chosen: readonly DeletableBranch[],
  reload: () => Promise<readonly DeletableBranch[]>,
): Promise<void> {
  // A deleted branch can't be looked up.
  const fullNames = new Map(chosen.map(({ ref }) => [ref.branchId, resourceText(context.inventory, ref)]));
  const nameOf = ({ ref, title }: DeletableBranch) => fullNames.get(ref.branchId) ?? title;
  const names = chosen.map(nameOf);
  const [first = ''] = names;
  const dropped = chosen.flatMap(({ ref }) => loadedComputes(context.inventory, ref).map(computeNodeOf));
  const effects = [
    l10n.t('Data and computes are deleted, and connections are dropped.'),
    droppedPsqlText(dropped, false) ?? '',
  ];
  const detail = effects.join(' ').trim();
  await makeChange(context, run, {
    name: chosen.map(({ title }) => title).join(', '),
    question:
      names.length === 1 ? l10n.t('Delete {0}?', first) : l10n.t('Delete {0} branches?', names.length),
    detail: names.length === 1 ? detail : [detail, ...names].join('\n'),
    isLoss: true,
    button: l10n.t('Delete'),
    progress: l10n.t('Deleting branches'),
    send: async (options) => {
      const still = (await reload()).filter(({ ref }) => chosen.some((each) => isSameBranch(ref, each.ref)));
      let pendingId: string | undefined;
      for (const each of still) {
        run.failureMessage = l10n.t("Couldn't delete {0}", nameOf(each));
        const result = await deleteAndForget(context, each, options);
        pendingId ??= result.pendingId;
      }
      return { deleted: still.map(nameOf), pendingId };
    },
    done: ({ deleted }) => (deleted.length === 0 ? undefined : l10n.t('Deleted {0}', deleted.join(', '))),
  });
}

/**
 * Sends a deletion, and forgets the branch once it is deleted. If the deletion fails later, the branch stays known, so that it can be
 * deleted again.
 * @returns the result of the request, without waiting for its operations
 */
async function deleteAndForget(
  { tracker, session, branchActions, log }: CommandContext,
  { ref, forget }: DeletableBranch,
  options: SendOptions,
): Promise<SendResult> {
  const sent = Promise.withResolvers<SendResult>();
  const send = async () => {
    const result = await branchActions.delete(ref, { unprotect: false }, options);
    sent.resolve(result);
    return result;
  };
  // The failure of the request is thrown here, and the tracker reports that of an operation.
  const forgotten = finishChange(tracker, session.connection, send).then(forget, sent.reject);
  const result = await sent.promise;
  if (result.pendingId === undefined) await forgotten;
  else forgotten.catch((error: unknown) => log.error('Forgetting a deleted branch', error));
  return result;
}
