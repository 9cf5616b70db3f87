/** The commands Follow Git Branch, Stop Following Git Branch, and Choose Branch for This Git Branch. */
import { l10n } from 'vscode';
import { isFollowedByNeon } from '../neonFile.ts';
import { prepareEnvWrite } from '../../envFile/ui/envFile.ts';
import { FolderEnv } from '../../envFile/ui/folderEnv.ts';
import { announce } from '../../window/ui/announce.ts';
import { followedByNeonText } from '../ui/workBranchText.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { pickBranch } from '../../commandSupport/branchPicker.ts';
import { mapDefaultBranch, pickGitFolder, type GitFolder } from './gitFolder.ts';
import { writeBranchUrl } from './writeBranchUrl.ts';

export const followGitBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't follow the Git branch");
  const git = await pickGitFolder(context, l10n.t('Follow Git Branch'), argument);
  if (git === undefined) return;
  if (await isFollowedByNeon(git.repository.worktree)) throw new Error(followedByNeonText());
  await setParentToDefaultBranch(context, git);
  await setFollowed(context, git, { isFollowed: true });
  announce(l10n.t('{0} follows the Git branch', new FolderEnv(context.config, git.folder).file));
};

export const stopFollowing: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't stop following the Git branch");
  const git = await pickGitFolder(context, l10n.t('Stop Following Git Branch'), argument);
  if (git === undefined) return;
  await setFollowed(context, git, { isFollowed: false });
  announce(l10n.t('{0} stays as it is', new FolderEnv(context.config, git.folder).file));
};

/** Maps the checked-out git branch to a branch of the user's choice, and writes its URL. */
export const chooseBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't choose the database branch");
  const { accountId: account } = context.session.requireConnection();
  const title = l10n.t('Choose Branch for This Git Branch');
  const git = await pickGitFolder(context, title, argument);
  const picked = git && (await pickBranch(context, title, argument));
  if (git === undefined || picked === undefined) return;
  const env = new FolderEnv(context.config, git.folder);
  const write = await prepareEnvWrite(env, picked.fullName, context.knownHosts.isOwn);
  if (write === undefined) return;
  const { projectId, branchId, branch } = picked;
  const ref = { account, projectId, branchId };
  await writeBranchUrl(context, { title, git, ref, branch, write });
};

async function setFollowed(
  context: CommandContext,
  { folder, writer }: GitFolder,
  { isFollowed }: { readonly isFollowed: boolean },
) {
  await writer.setFollowed(isFollowed);
  await context.workFolders.of(folder)?.activate();
}

/** Makes new database branches start from the default branch of the project whose branch the env file points to. */
async function setParentToDefaultBranch(context: CommandContext, git: GitFolder): Promise<void> {
  const { session, inventory, workFolders } = context;
  const { folder, map, writer } = git;
  const current = workFolders.of(folder)?.state.current;
  const account = session.connection?.accountId;
  if (current === undefined || current.account !== account || map.parent !== undefined) return;
  const parent = (await inventory.branches.ensureLoaded(current.projectId))?.default;
  if (parent === undefined) return;
  const ref = { account, projectId: current.projectId, branchId: parent.id };
  await writer.setParent(ref);
  await mapDefaultBranch(context, git, ref, parent.name);
}
