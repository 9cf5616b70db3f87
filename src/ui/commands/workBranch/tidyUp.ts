/** Tidy Up Branches: deletes database branches that were created for git branches that no longer exist. */
import path from 'node:path';
import { l10n, type WorkspaceFolder } from 'vscode';
import { accountId } from '../../../model/account/accounts.ts';
import type { BranchList } from '../../../model/inventory/branchLists.ts';
import {
  BranchMapWriter,
  isSameBranch,
  readBranchMap,
  type BranchRef,
} from '../../../model/workBranch/branchMap.ts';
import { parseDatabaseUrl } from '../../../model/workBranch/databaseUrl.ts';
import { readGitBranches } from '../../../model/workBranch/gitState.ts';
import { findUnused, type Cleanup, type UnusedBranch } from '../../../model/workBranch/unusedBranches.ts';
import { otherWorktrees } from '../../../model/workBranch/worktrees.ts';
import { envVariable } from '../../envFile/envFile.ts';
import { readValue } from '../../envFile/envValue.ts';
import { runGit } from '../../envFile/git.ts';
import { requireTrust } from '../../state/trust.ts';
import { branchTitle, sizeText } from '../../text/branchText.ts';
import { sanitize } from '../../text/sanitize.ts';
import { ago } from '../../text/timeText.ts';
import { window } from '../../window.ts';
import { makeChange } from '../change.ts';
import type { Command, CommandContext, Run } from '../context.ts';
import { requireBranches } from '../input/branchPicker.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { requireConnection } from '../input/pickers.ts';
import { pickMany, type Choice } from '../input/quickInput.ts';
import { pickWorkFolder, requireRepository } from './gitFolder.ts';

export const tidyUp: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't tidy up the branches");
  requireConnection(context);
  requireTrust();
  const title = l10n.t('Tidy Up Branches');
  const folder = await pickWorkFolder(context, title, argument);
  if (folder === undefined) return;
  const { unused, gone } = await loadCleanup(context, folder);
  for (const created of gone) await writerOf(folder).removeCreated(created);
  if (unused.length === 0)
    return void window.showInformationMessage(
      l10n.t('There is nothing to tidy up: no database branch has lost its Git branch.'),
    );
  const placeholder = l10n.t('Select the branches to delete. Their Git branches are gone.');
  const chosen = await singleStep(title, (page) => pickMany(page, placeholder, unused.map(itemOf)));
  if (chosen === undefined || chosen.length === 0) return;
  await deleteBranches(context, run, folder, chosen);
};

/** Asks for approval once for all branches. */
async function deleteBranches(
  context: CommandContext,
  run: Run,
  folder: WorkspaceFolder,
  chosen: readonly UnusedBranch[],
): Promise<void> {
  const names = chosen.map(titleOf);
  const [first = ''] = names;
  const detail = l10n.t("This can't be undone. Data and computes are deleted, and connections are dropped.");
  await makeChange(context, run, {
    name: names.join(', '),
    question:
      names.length === 1 ? l10n.t('Delete {0}?', first) : l10n.t('Delete {0} branches?', names.length),
    detail: names.length === 1 ? detail : [...names, detail].join('\n'),
    button: l10n.t('Delete'),
    progress: l10n.t('Deleting branches'),
    send: async (options) => {
      // Some may be in use again since the user was asked.
      const { unused } = await loadCleanup(context, folder);
      const still = unused.filter(({ created }) =>
        chosen.some((each) => isSameBranch(created, each.created)),
      );
      let isPending = false;
      for (const each of still) {
        run.failureMessage = l10n.t("Couldn't delete {0}", titleOf(each));
        const result = await context.branchActions.delete(each.created, { unprotect: false }, options);
        isPending ||= result.isPending;
        await writerOf(folder).removeCreated(each.created);
      }
      return { deleted: still.map(titleOf), isPending };
    },
    done: ({ deleted }) => (deleted.length === 0 ? undefined : l10n.t('Deleted {0}', deleted.join(', '))),
  });
}

const writerOf = ({ uri }: WorkspaceFolder) => new BranchMapWriter(runGit, uri.fsPath);

const titleOf = ({ created, branch }: UnusedBranch): string => branchTitle(created.branchId, branch);

function itemOf(value: UnusedBranch): Choice<UnusedBranch> {
  const { created, branch } = value;
  const { created_at: time, logical_size: size } = branch;
  const parts = [
    ...(time ? [l10n.t('created {0}', ago(time))] : []),
    ...(typeof size === 'number' ? [sizeText(size)] : []),
    l10n.t('Git branch {0}', sanitize(created.gitBranch)),
  ];
  return { label: titleOf(value), description: parts.join(' · '), value };
}

/** Checks git, the env files and the service. @throws {ApiError} because an old list may lack a child or a new branch */
async function loadCleanup(context: CommandContext, folder: WorkspaceFolder): Promise<Cleanup> {
  const { inventory, guards } = context;
  const account = accountId(requireConnection(context).account);
  const gitBranches = await readGitBranches(runGit, folder.uri.fsPath);
  const map = await readBranchMap(runGit, folder.uri.fsPath);
  await inventory.projects?.load();
  const lists = new Map<string, BranchList>();
  for (const { projectId } of map.created) {
    if (lists.has(projectId) || inventory.projects?.entries.has(projectId) !== true) continue;
    const list = await requireBranches(context, projectId);
    if (list.failure !== undefined) throw list.failure;
    lists.set(projectId, list);
    await inventory.loadComputes(projectId);
  }
  const inFiles = await branchesInFiles(context, folder, account);
  const isMarked = (ref: BranchRef) => guards.cachedMark(ref) !== undefined;
  return findUnused({ map, gitBranches, inFiles, account, lists, isMarked });
}

/** The branches that the env files of all worktrees and open folders point to. */
async function branchesInFiles(
  { config, inventory, knownHosts, workFolders }: CommandContext,
  folder: WorkspaceFolder,
  account: string,
): Promise<readonly BranchRef[]> {
  const repository = await requireRepository(folder);
  const inside = path.relative(repository.worktree, folder.uri.fsPath);
  const worktrees = [repository.worktree, ...(await otherWorktrees(repository))];
  const { file, name } = envVariable(config, folder);
  const files = worktrees.flatMap((worktree) => [
    path.join(worktree, file),
    path.join(worktree, inside, file),
  ]);
  const values = await Promise.all(files.map((each) => readValue(each, name)));
  const hosts = values.flatMap((value) => parseDatabaseUrl(value ?? '')?.host ?? []);
  await knownHosts.refresh(inventory, account, hosts);
  const shown = workFolders.states.map(({ current }) => current);
  return [...shown, ...hosts.map((host) => knownHosts.get(host))].filter((ref) => ref !== undefined);
}
