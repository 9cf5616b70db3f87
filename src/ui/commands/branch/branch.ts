/** Create, rename, protect and reset branches, and choose the default one. */
import { l10n } from 'vscode';
import type { Branch } from '../../../api/records/records.ts';
import { announce } from '../../notifications/announce.ts';
import { approve } from '../../notifications/approval.ts';
import { branchLabel, branchTitle } from '../../text/branchText.ts';
import { nameOrId } from '../../text/sanitize.ts';
import type { Command, CommandContext, Run } from '../context.ts';
import { showCreated } from '../showCreated.ts';
import { pickBranch, type PickedBranch } from '../input/branchPicker.ts';
import { withProgress } from '../input/dialogs.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { requireConnection } from '../input/pickers.ts';
import { askBranchName, askForBranch } from './createBranch.ts';
import { explainExpiry } from './expiry.ts';
import { window } from '../../window.ts';

export const create: Command = async (context, argument, run) => {
  requireConnection(context);
  run.failureMessage = l10n.t("Couldn't create the branch");
  const answers = await askForBranch(context, argument);
  if (answers === undefined) return;
  const { projectId, creation } = answers;
  const name = nameOrId(context.inventory.project(projectId)?.name, projectId);
  const question = l10n.t('Create a branch in {0}?', name);
  if (
    !(await approve(
      context.guards,
      { projectId, name, question, button: l10n.t('Create') },
      run.initialConnection,
    ))
  )
    return;
  const { branch, computes, isPending } = await withProgress(l10n.t('Creating a branch'), (options) =>
    context.branchChanges.create(projectId, creation, options),
  );
  if (branch === undefined) return;
  // The status bar shows a pending change and its end.
  if (!isPending) announce(l10n.t('Created {0}', branchTitle(branch.id, branch)));
  const place = { projectId, branchId: branch.id };
  const [compute] = computes;
  const node = { kind: 'branch', ...place } as const;
  await showCreated(
    context,
    compute === undefined ? node : { ...node, kind: 'compute', computeId: compute.id },
  );
};

export const rename: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't rename the branch");
  const title = l10n.t('Rename Branch');
  const picked = await pickBranch(context, title, argument);
  if (picked === undefined) return;
  const { branch, branchId, list } = picked;
  run.failureMessage = l10n.t("Couldn't rename {0}", branchTitle(branchId, branch));
  const prompt = l10n.t('Name of {0}', branchId);
  const question = { prompt, value: branch.name, except: branchId };
  const name = await singleStep(title, (page) => askBranchName(page, list, question));
  if (name === undefined || name === branch.name) return;
  const renameQuestion = l10n.t('Rename {0}?', branchTitle(branchId, branch));
  if (!(await approveChange(context, run, picked, { question: renameQuestion, button: l10n.t('Rename') })))
    return;
  await withProgress(l10n.t('Renaming {0}', branchTitle(branchId, branch)), (options) =>
    context.branchChanges.update(picked, { name }, options),
  );
  announce(l10n.t('Renamed {0}', branchLabel(branchId, { ...branch, name })));
};

export const protect: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't protect the branch");
  const problem = (branch: Branch) => (branch.protected === true ? l10n.t('already protected') : undefined);
  const picked = await pickBranch(context, l10n.t('Protect Branch'), argument, problem);
  if (picked === undefined) return;
  if (await explainExpiry(picked)) return;
  const name = branchTitle(picked.branchId, picked.branch);
  run.failureMessage = l10n.t("Couldn't protect {0}", name);
  const question = l10n.t('Protect {0}?', name);
  if (!(await approveChange(context, run, picked, { question, button: l10n.t('Protect') }))) return;
  await withProgress(l10n.t('Protecting {0}', name), (options) =>
    context.branchChanges.update(picked, { protected: true }, options),
  );
  announce(l10n.t('Protected {0}', name));
};

export const unprotect: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't remove the protection");
  const problem = (branch: Branch) => (branch.protected === true ? undefined : l10n.t('not protected'));
  const picked = await pickBranch(context, l10n.t('Unprotect Branch'), argument, problem);
  if (picked === undefined) return;
  const name = branchTitle(picked.branchId, picked.branch);
  run.failureMessage = l10n.t("Couldn't remove the protection of {0}", name);
  const detail = l10n.t('It can then be deleted and reset.');
  const question = l10n.t('Remove the protection of {0}?', name);
  if (!(await approveChange(context, run, picked, { question, detail, button: l10n.t('Unprotect') }))) return;
  await withProgress(l10n.t('Removing the protection of {0}', name), (options) =>
    context.branchChanges.update(picked, { protected: false }, options),
  );
  announce(l10n.t('Removed the protection of {0}', name));
};

export const setDefault: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't change the default branch");
  const problem = (branch: Branch) => (branch.default === true ? l10n.t('already the default') : undefined);
  const picked = await pickBranch(context, l10n.t('Set as Default Branch'), argument, problem);
  if (picked === undefined) return;
  if (await explainExpiry(picked)) return;
  const name = branchTitle(picked.branchId, picked.branch);
  run.failureMessage = l10n.t("Couldn't set {0} as default", name);
  const detail = l10n.t('New branches start from the default branch unless you choose another parent.');
  const question = l10n.t('Set {0} as the default branch?', name);
  if (!(await approveChange(context, run, picked, { question, detail, button: l10n.t('Set as Default') })))
    return;
  await withProgress(l10n.t('Setting {0} as default', name), (options) =>
    context.branchChanges.setDefault(picked, options),
  );
  announce(l10n.t('{0} is the default branch', name));
};

export const reset: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't reset the branch");
  const problem = (branch: Branch) => (branch.parent_id ? undefined : l10n.t('has no parent'));
  const picked = await pickBranch(context, l10n.t('Reset from Parent'), argument, problem);
  if (picked === undefined) return;
  const { branchId, branch } = picked;
  const name = branchTitle(branchId, branch);
  run.failureMessage = l10n.t("Couldn't reset {0}", name);
  const parent = branch.parent_id;
  const obstacle = resetProblem(picked);
  if (!parent || obstacle !== undefined)
    return void window.showWarningMessage(obstacle ?? run.failureMessage);
  const question = l10n.t('Reset {0} from {1}?', name, branchTitle(parent, picked.list.branches.get(parent)));
  const detail = l10n.t(
    "This can't be undone. Its data, roles and passwords are replaced with the current ones of its parent. Its active computes are restarted, and their connections are dropped.",
  );
  if (!(await approveChange(context, run, picked, { question, detail, button: l10n.t('Reset') }))) return;
  const { isPending } = await withProgress(l10n.t('Resetting {0}', name), (options) =>
    context.branchChanges.reset(picked, parent, options),
  );
  // The status bar shows a pending change and its end.
  if (!isPending) announce(l10n.t('Reset {0}', name));
};

/** @returns whether to make the change */
const approveChange = (
  { guards }: CommandContext,
  { initialConnection }: Run,
  { projectId, branchId, branch }: PickedBranch,
  texts: { readonly question: string; readonly detail?: string; readonly button: string },
): Promise<boolean> =>
  approve(guards, { projectId, branchId, name: branchTitle(branchId, branch), ...texts }, initialConnection);

/** Why the service does not reset a branch. */
function resetProblem({ branchId, branch, list }: PickedBranch): string | undefined {
  const name = branchTitle(branchId, branch);
  if (!branch.parent_id) return l10n.t("{0} has no parent, so it can't be reset.", name);
  if (branch.protected === true)
    return l10n.t("{0} is protected, so it can't be reset. Unprotect it first.", name);
  const [child] = list.childrenOf(branchId);
  return (
    child &&
    l10n.t("{0} has child branches, such as {1}, so it can't be reset.", name, branchTitle(child.id, child))
  );
}
