/** Create Branch for This Git Branch: a database branch with a compute, whose URL goes to the folder's env file. */
import { l10n } from 'vscode';
import type { Branch } from '../../../api/records/records.ts';
import type { BranchList } from '../../inventory/branchLists.ts';
import { databaseBranchName, distinctBranchName } from '../branchName.ts';
import { findNeonFile } from '../neonFile.ts';
import { prepareEnvWrite } from '../../envFile/ui/envFile.ts';
import { FolderEnv } from '../../envFile/ui/folderEnv.ts';
import { expiryAfter, GIT_BRANCH_LIFETIME } from '../../branches/expiryTime.ts';
import { branchRow } from '../../inventory/ui/branchText.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';
import { projectName } from '../../inventory/names.ts';
import { namesText } from '../../inventory/ui/resourceText.ts';
import { createBranchIn } from '../../branches/commands/createBranch.ts';
import { explainExpiry } from '../../branches/commands/expiry.ts';
import type { Command, CommandContext, CommandRun } from '../../commandSupport/context.ts';
import { requireBranches } from '../../commandSupport/branchPicker.ts';
import { askInSteps, singleStep } from '../../window/ui/input/multiStepInput.ts';
import { askForProject, onlyProject } from '../../commandSupport/pickers.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';
import { mapDefaultBranch, pickGitFolder, type GitFolder } from './gitFolder.ts';
import { writeBranchUrl } from './writeBranchUrl.ts';
import { isSameBranch, type BranchRef } from '../../account/refs.ts';

/** A git branch, and where its database branch is or will be. */
interface Place {
  readonly git: GitFolder;
  readonly projectId: string;
  readonly list: BranchList;
  readonly refOf: (branch: Branch) => BranchRef;
}

export const createForGitBranch: Command = async (context, argument, run) => {
  const account = context.session.requireConnection().accountId;
  run.failureMessage = l10n.t("Couldn't create the branch");
  const title = l10n.t('Create Branch for This Git Branch');
  const git = await pickGitFolder(context, title, argument);
  const projectId = git && (await findProject(context, title, git, account));
  if (git === undefined || projectId === undefined) return;
  const list = await requireBranches(context, projectId);
  const refOf = ({ id }: Branch) => ({ account, projectId, branchId: id });
  const place = { git, projectId, list, refOf };
  const choice = await chooseBranch(title, place);
  if (choice === undefined) return;
  // Ask before creating anything, so that canceling leaves nothing behind.
  const name = displayName({ id: choice.name, ...choice.existing });
  const target = namesText({ project: projectName(context.inventory, projectId), branch: name });
  const env = new FolderEnv(context.config, git.folder);
  const write = await prepareEnvWrite(env, target, context.knownHosts.isOwn);
  if (write === undefined) return;
  const branch = choice.existing ?? (await createFromParent(context, run, place, choice.name));
  if (branch === undefined) return;
  const ref = refOf(branch);
  if (choice.existing === undefined) await git.writer.addCreated({ ...ref, gitBranch: git.gitBranch });
  run.failureMessage = l10n.t("Couldn't write the connection string of {0}", target);
  await writeBranchUrl(context, { title, git, ref, branch, write });
};

/** Finds the project by the chosen parent, the env file, other git branches, or `.neon`, or else asks for it. */
async function findProject(
  context: CommandContext,
  title: string,
  { folder, map }: GitFolder,
  account: string,
): Promise<string | undefined> {
  const current = context.workFolders.of(folder)?.state.current;
  for (const ref of [map.parent, current, ...map.branches.values()]) {
    if (ref === undefined || ref === 'none' || ref.account !== account) continue;
    // The project may have been deleted.
    if ((await context.inventory.branches.refresh(ref.projectId)) !== undefined) return ref.projectId;
  }
  const only = await onlyProject(context);
  const linked = (await findNeonFile(folder.uri.fsPath))?.projectId;
  // The project in `.neon` may be one of another account.
  const isListed = typeof linked === 'string' && context.inventory.projects?.entries.has(linked) === true;
  const known = isListed ? linked : only;
  return known ?? (await askInSteps(title, (ask) => askForProject(context, ask)));
}

interface Choice {
  readonly existing?: Branch | undefined;
  /** The name of a new branch. */
  readonly name: string;
}

/** Offers a branch that already belongs to the git branch, or has its name. @returns undefined if the user canceled */
async function chooseBranch(
  title: string,
  { git, projectId, list, refOf }: Place,
): Promise<Choice | undefined> {
  const { gitBranch, map } = git;
  const branches = [...list.branches.values()];
  const branchNamed = (name: unknown) => branches.find((branch) => branch.name === name);
  const belongsToOther = (branch: Branch) =>
    [...map.branches].some(([other, mapped]) => other !== gitBranch && isSameBranch(refOf(branch), mapped));
  const neon = await findNeonFile(git.folder.uri.fsPath);
  const linked = neon?.projectId === projectId ? neon.branchOf(gitBranch) : undefined;
  const distinct = distinctBranchName(gitBranch);
  const names = [databaseBranchName(gitBranch), distinct, `${distinct}-2`];
  const free = names.find((name) => branchNamed(name) === undefined);
  const sameName = branchNamed(names[0]);
  const existing =
    branches.find((branch) => isSameBranch(refOf(branch), map.branches.get(gitBranch))) ??
    branchNamed(linked) ??
    (sameName !== undefined && belongsToOther(sameName) ? branchNamed(distinct) : sameName);
  return existing === undefined
    ? { name: free ?? distinct }
    : await askForExisting(title, gitBranch, existing, free);
}

async function askForExisting(
  title: string,
  gitBranch: string,
  existing: Branch,
  name: string | undefined,
): Promise<Choice | undefined> {
  const { label, parts } = branchRow(existing.id, existing);
  const items = [
    {
      label: l10n.t('Use {0}', displayName(existing)),
      description: [label, ...parts].join(' · '),
      value: { existing, name: existing.name },
    },
    ...(name === undefined
      ? []
      : [{ label: l10n.t('Create {0}', name), description: l10n.t('another branch'), value: { name } }]),
  ];
  const placeholder = l10n.t('There is a database branch for {0}', sanitize(gitBranch));
  return await singleStep(title, pickOne<Choice>({ placeholder, items }));
}

/** Returns undefined if the user canceled. @throws {ApiError} */
async function createFromParent(
  context: CommandContext,
  run: CommandRun,
  { git, projectId, list, refOf }: Place,
  name: string,
): Promise<Branch | undefined> {
  const { parent: chosen } = git.map;
  const parent =
    [...list.branches.values()].find((each) => isSameBranch(refOf(each), chosen)) ?? list.default;
  if (
    parent !== undefined &&
    (await explainExpiry({ kind: 'branch', projectId, branchId: parent.id, branch: parent }))
  )
    return undefined;
  if (parent !== undefined && chosen === undefined) {
    await git.writer.setParent(refOf(parent));
    await mapDefaultBranch(context, git, refOf(parent), parent.name);
  }
  const creation = {
    branch: {
      name,
      ...(parent === undefined ? {} : { parent_id: parent.id }),
      // Branches on this machine cost nothing, so they don't expire.
      ...(context.session.requireConnection().isLocal
        ? {}
        : { expires_at: expiryAfter(GIT_BRANCH_LIFETIME) }),
    },
    endpoints: [{ type: 'read_write' as const }],
  };
  return (await createBranchIn(context, run, projectId, creation))?.branch;
}
