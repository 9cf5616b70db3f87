/** Tidy Up Branches: deletes database branches that were created for git branches that no longer exist. */
import path from 'node:path';
import { l10n, type WorkspaceFolder } from 'vscode';
import { branchMapWriter, readBranchMap } from '../branchMap.ts';
import { parseDatabaseUrl } from '../../../api/addresses/databaseUrl.ts';
import { readGitBranches } from '../gitState.ts';
import {
  findUnusedBranches,
  type BranchCleanup,
  type KeptBranch,
  type KeptReason,
  type UnusedBranch,
} from '../unusedBranches.ts';
import { listOtherWorktrees } from '../worktrees.ts';
import { FolderEnv } from '../../envFile/ui/folderEnv.ts';
import { runGit } from '../../window/ui/git.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import { bytesText } from '../../inventory/ui/branchText.ts';
import { branchTitle } from '../../inventory/names.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { fileProblemText } from '../../window/ui/fileProblemText.ts';
import { timeAgo } from '../../window/ui/timeText.ts';
import { window } from '../../window/ui/window.ts';
import {
  deleteBranches,
  loadBranchLists,
  type DeletableBranch,
} from '../../branches/commands/deleteBranches.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickMany, type Choice } from '../../window/ui/input/quickInput.ts';
import { pickWorkFolder, requireRepository } from './gitFolder.ts';
import type { BranchRef } from '../../account/refs.ts';

export const tidyUpBranches: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't tidy up the branches");
  context.session.requireConnection();
  requireTrust();
  const title = l10n.t('Tidy Up Branches');
  const folder = await pickWorkFolder(context, title, argument);
  if (folder === undefined) return;
  const writer = branchMapWriter(runGit, folder.uri.fsPath);
  const { unused, kept, gone, unread } = await loadCleanup(context, folder);
  for (const created of gone) await writer.removeCreated(created);
  const notes = [...keptBranchTexts(kept), ...unread];
  if (unused.length === 0) {
    const nothing =
      kept.length === 0
        ? l10n.t('There is nothing to tidy up: the Git branches of all database branches still exist.')
        : l10n.t('There is nothing to tidy up.');
    return void window.showInformationMessage([nothing, ...notes].join(' '));
  }
  const prompt = l10n.t('Select the database branches to delete. Their Git branches no longer exist.');
  const placeholder = [prompt, ...notes].join(' ');
  const chosen = await singleStep(title, pickMany(placeholder, unused.map(unusedBranchItem)));
  if (chosen === undefined || chosen.length === 0) return;
  const deletable = (each: UnusedBranch): DeletableBranch => ({
    ref: each.created,
    title: unusedBranchTitle(each),
    forget: () => writer.removeCreated(each.created),
  });
  const reload = async () => (await loadCleanup(context, folder)).unused.map(deletable);
  await deleteBranches(context, run, chosen.map(deletable), reload);
};

const unusedBranchTitle = ({ created, branch }: UnusedBranch): string =>
  branchTitle(created.branchId, branch);

function unusedBranchItem(value: UnusedBranch): Choice<UnusedBranch> {
  const { created, branch } = value;
  const { created_at: time, logical_size: size } = branch;
  const parts = [
    ...(time ? [l10n.t('created {0}', timeAgo(time))] : []),
    ...(typeof size === 'number' ? [bytesText(size)] : []),
    l10n.t('Git branch {0}', sanitize(created.gitBranch)),
  ];
  return { label: unusedBranchTitle(value), description: parts.join(' · '), value };
}

/** Returns the branches that are kept although their git branches are gone, and why; empty for none. */
function keptBranchTexts(kept: readonly KeptBranch[]): readonly string[] {
  if (kept.length === 0) return [];
  const texts: Record<KeptReason, string> = {
    gitBranch: l10n.t('another Git branch uses it'),
    newParent: l10n.t('new branches start from it'),
    envFile: l10n.t('an env file points to it'),
    marked: l10n.t('you have protected its project or account'),
    protected: l10n.t('it is protected'),
    default: l10n.t('it is the default branch'),
    root: l10n.t('it has no parent'),
    parent: l10n.t('it has child branches'),
  };
  const names = kept.map((each) => `${unusedBranchTitle(each)} (${texts[each.reason]})`);
  return [l10n.t('Kept: {0}.', names.join(', '))];
}

/** @property unread why an env file can't be used, so that its branch is unknown */
type LoadedCleanup = BranchCleanup & { readonly unread: readonly string[] };

/** Checks git, the env files and the service. @throws {Error} if a list of branches can't be loaded */
async function loadCleanup(context: CommandContext, folder: WorkspaceFolder): Promise<LoadedCleanup> {
  const { inventory, guards } = context;
  const account = context.session.requireConnection().accountId;
  const gitBranches = await readGitBranches(runGit, folder.uri.fsPath);
  const map = await readBranchMap(runGit, folder.uri.fsPath);
  const projectIds = map.created.map(({ projectId }) => projectId);
  const lists = await loadBranchLists(context, projectIds);
  // An env file may point to a compute that is newer than the lists.
  for (const projectId of lists.keys()) await inventory.refreshComputes(projectId);
  const { inFiles, unread } = await branchesInFiles(context, folder, account);
  const isMarked = (ref: BranchRef) => guards.cachedMark(ref) !== undefined;
  return { ...findUnusedBranches({ map, gitBranches, inFiles, account, lists, isMarked }), unread };
}

/** Returns the branches that the env files of all worktrees and open folders point to. */
async function branchesInFiles(
  { config, inventory, knownHosts, workFolders }: CommandContext,
  folder: WorkspaceFolder,
  account: string,
): Promise<{ readonly inFiles: readonly BranchRef[]; readonly unread: readonly string[] }> {
  const repository = await requireRepository(folder);
  const inside = path.relative(repository.worktree, folder.uri.fsPath);
  const worktrees = [repository.worktree, ...(await listOtherWorktrees(repository))];
  const env = new FolderEnv(config, folder);
  const folders = new Set(worktrees.flatMap((worktree) => [worktree, path.join(worktree, inside)]));
  const values = await Promise.all([...folders].map((each) => env.readIn(each, worktrees)));
  const hosts = values.flatMap(({ value }) => parseDatabaseUrl(value ?? '')?.host ?? []);
  await knownHosts.refresh(inventory, account, hosts);
  const shown = workFolders.states.map(({ current }) => current);
  return {
    inFiles: [...shown, ...hosts.map((host) => knownHosts.get(host))].filter((ref) => ref !== undefined),
    unread: values.flatMap(({ path: unusable, problem }) =>
      problem === undefined ? [] : [fileProblemText(problem, sanitize(unusable))],
    ),
  };
}
