/** Makes a branch with earlier data of another one, which is only read. The branch is deleted after its use, or expires. */
import { l10n } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import type { BranchRef } from '../../account/refs.ts';
import { expiryAfter } from '../../branches/expiryTime.ts';
import { parentRequestFields, type RestoreSource } from '../../account/refs.ts';
import { pastBranchText } from '../../window/ui/timeText.ts';
import { nameWithTime, removeExpiryForCopy } from '../undoBranch.ts';
import { branchTitle, projectName } from '../../inventory/names.ts';
import { finishChange } from '../../operations/finishChange.ts';
import { makeChange } from '../../commandSupport/change.ts';
import type { CommandContext, CommandRun } from '../../commandSupport/context.ts';

/** Seconds after which the service deletes what a closed window could not delete: longer than the branch is used. */
export const PAST_BRANCH_LIFETIME = { comparison: 60 * 60, psql: 24 * 60 * 60 } as const;

interface PastBranch extends BranchRef {
  readonly compute: Compute;
  /** The title, such as `main · 14:32:07`. */
  readonly title: string;
  /** Deletes the branch. Never rejects: if that fails, the branch expires. */
  readonly remove: () => Promise<void>;
}

/**
 * Creates a temporary branch with earlier data, after the user's approval if that is needed.
 * @returns undefined if the user canceled.
 * @throws {ApiError}
 * @throws {Error} if an operation failed
 */
export async function createPastBranch(
  context: CommandContext,
  run: CommandRun,
  projectId: string,
  source: RestoreSource,
  lifetime: number,
): Promise<PastBranch | undefined> {
  const { inventory, branchActions, tracker, log } = context;
  const { accountId: account } = context.session.requireConnection();
  const of = branchTitle(source.branchId, inventory.branches.get(projectId, source.branchId));
  const title = pastBranchText(of, source.at);
  const place = projectName(inventory, projectId);
  const { initialConnection } = run;
  const list = inventory.branches.forProject(projectId);
  const creation = {
    branch: {
      name: nameWithTime('look', list),
      ...parentRequestFields(source),
      expires_at: expiryAfter(lifetime),
    },
    endpoints: [{ type: 'read_write' as const }],
  };
  let expireAgain = async () => undefined as void;
  let branchId: string | undefined;
  const remove = async () => {
    if (branchId !== undefined)
      await branchActions
        .delete({ projectId, branchId }, { unprotect: false }, { initialConnection })
        .catch((error: unknown) => log.error('Deleting a temporary branch', error));
    await expireAgain();
  };
  const created = await makeChange(context, run, {
    projectId,
    name: of,
    question: l10n.t('Create a temporary branch in {0} to look at {1}?', place, title),
    button: l10n.t('Create'),
    progress: l10n.t('Preparing {0}', title),
    send: async (options) => {
      expireAgain = await removeExpiryForCopy(context, { projectId, branchId: source.branchId }, options);
      const create = async () => {
        const result = await branchActions.create(projectId, creation, options);
        branchId = result.branch?.id;
        return result;
      };
      return await finishChange(tracker, initialConnection, create);
    },
  }).catch(async (error: unknown) => {
    // The branch exists if only its compute didn't start.
    await remove();
    throw error;
  });
  const { branch, computes: [compute] = [] } = created ?? {};
  if (branch === undefined) return undefined;
  if (compute !== undefined) return { account, projectId, branchId: branch.id, compute, title, remove };
  await remove();
  return undefined;
}
