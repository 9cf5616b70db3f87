/** Rename, protect, reset and delete branches, and choose the default one. */
import { l10n } from 'vscode';
import type { Branch } from '../../../api/records/records.ts';
import { endedSlotsMessage } from '../../../api/rules/endedSlots.ts';
import { deletionProblem, loadedComputes, type DeletionProblem } from '../../inventory/branchStatus.ts';
import { asBranchNode, computeNodeOf } from '../../inventory/nodes.ts';
import { deletionText } from '../../inventory/ui/branchText.ts';
import { branchTitle } from '../../inventory/names.ts';
import { changeTexts } from '../../operations/ui/changeText.ts';
import { window } from '../../window/ui/window.ts';
import { makeChange, revealRow } from '../../commandSupport/change.ts';
import type { Command } from '../../commandSupport/context.ts';
import { pickBranch, type PickedBranch } from '../../commandSupport/branchPicker.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { branchNameQuestion } from './createBranch.ts';
import { findEndingSlots } from '../endingSlots.ts';
import { explainExpiry } from './expiry.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';

export const renameBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't rename the branch");
  const title = l10n.t('Rename Branch');
  const picked = await pickBranch(context, title, argument);
  if (picked === undefined) return;
  const { branch, branchId, list } = picked;
  run.failureMessage = l10n.t("Couldn't rename {0}", picked.fullName);
  const prompt = l10n.t('New name of {0}', picked.fullName);
  const question = { prompt, value: branch.name, except: branchId };
  const name = await singleStep(title, branchNameQuestion(list, question));
  if (name === undefined || name === branch.name) return;
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Rename {0}?', picked.fullName),
    button: l10n.t('Rename'),
    progress: l10n.t('Renaming {0}', picked.fullName),
    done: l10n.t('Renamed {0} to {1}', picked.fullName, sanitize(name)),
    send: (options) => context.branchActions.update(picked, { name }, options),
  });
};

export const protectBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't protect the branch");
  const problem = (branch: Branch) => (branch.protected === true ? l10n.t('already protected') : undefined);
  const picked = await pickBranch(context, l10n.t('Protect Branch'), argument, problem);
  if (picked === undefined) return;
  if (await explainExpiry(picked)) return;
  const { fullName } = picked;
  run.failureMessage = l10n.t("Couldn't protect {0}", fullName);
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Protect {0}?', fullName),
    button: l10n.t('Protect'),
    progress: l10n.t('Protecting {0}', fullName),
    done: l10n.t('Protected {0}', fullName),
    send: (options) => context.branchActions.update(picked, { protected: true }, options),
  });
};

export const unprotectBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't remove the protection");
  const problem = (branch: Branch) => (branch.protected === true ? undefined : l10n.t('not protected'));
  const picked = await pickBranch(context, l10n.t('Unprotect Branch'), argument, problem);
  if (picked === undefined) return;
  const { fullName } = picked;
  run.failureMessage = l10n.t("Couldn't remove the protection of {0}", fullName);
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Remove the protection of {0}?', fullName),
    detail: l10n.t('It can then be deleted or reset.'),
    button: l10n.t('Unprotect'),
    progress: l10n.t('Removing the protection of {0}', fullName),
    done: l10n.t('Removed the protection of {0}', fullName),
    send: (options) => context.branchActions.update(picked, { protected: false }, options),
  });
};

export const setDefaultBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't change the default branch");
  const problem = (branch: Branch) => (branch.default === true ? l10n.t('already the default') : undefined);
  const picked = await pickBranch(context, l10n.t('Set as Default Branch'), argument, problem);
  if (picked === undefined) return;
  if (await explainExpiry(picked)) return;
  const { fullName } = picked;
  run.failureMessage = l10n.t("Couldn't set {0} as default", fullName);
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Set {0} as the default branch?', fullName),
    detail: l10n.t('New branches start from the default branch unless you choose another parent.'),
    button: l10n.t('Set as Default'),
    progress: l10n.t('Setting {0} as default', fullName),
    done: l10n.t('{0} is the default branch', fullName),
    send: (options) => context.branchActions.setDefault(picked, options),
  });
};

export const resetBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't reset the branch");
  const problem = (branch: Branch) => (branch.parent_id ? undefined : l10n.t('has no parent'));
  const picked = await pickBranch(context, l10n.t('Reset from Parent'), argument, problem);
  if (picked === undefined) return;
  const { fullName } = picked;
  run.failureMessage = l10n.t("Couldn't reset {0}", fullName);
  const parent = picked.branch.parent_id;
  const obstacle = resetProblem(picked);
  if (!parent || obstacle !== undefined)
    return void window.showWarningMessage(obstacle ?? run.failureMessage);
  const slots = endedSlotsMessage(await findEndingSlots(context.session.requireConnection(), picked), l10n);
  const effect = l10n.t(
    'Its data and roles are replaced with the current ones of its parent. Its active computes are restarted, and their connections are dropped.',
  );
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Reset {0} from {1}?', fullName, branchTitle(parent, picked.list.branches.get(parent))),
    isLoss: true,
    detail: slots === undefined ? effect : `${effect} ${slots}`,
    drops: loadedComputes(context.inventory, picked).map(computeNodeOf),
    button: l10n.t('Reset'),
    ...changeTexts('reset', fullName),
    send: (options) => context.branchActions.reset(picked, parent, options),
  });
};

/** Returns why the service would refuse to reset the branch; undefined if it wouldn't. */
function resetProblem({ branchId, fullName, branch, list }: PickedBranch): string | undefined {
  if (!branch.parent_id) return l10n.t("{0} has no parent, so it can't be reset.", fullName);
  if (branch.protected === true)
    return l10n.t("{0} is protected, so it can't be reset. Unprotect it first.", fullName);
  const [child] = list.childrenOf(branchId);
  return (
    child &&
    l10n.t("{0} has child branches, such as {1}, so it can't be reset.", fullName, displayName(child))
  );
}

/** Shows why the service would reject a deletion instead of asking for confirmation. */
export const deleteBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't delete the branch");
  const picked = await pickBranch(context, l10n.t('Delete Branch'), argument);
  if (picked === undefined) return;
  const { fullName } = picked;
  run.failureMessage = l10n.t("Couldn't delete {0}", fullName);
  const problem = deletionProblem(picked.list, picked.branch);
  if (problem !== undefined) return await explainDeletionProblem(picked, problem);
  await context.inventory.snapshots.ensureLoaded(picked.projectId);
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Delete {0}?', fullName),
    isLoss: true,
    detail: deletionText(context.inventory, picked),
    drops: loadedComputes(context.inventory, picked).map(computeNodeOf),
    reconnects: false,
    button: l10n.t('Delete'),
    ...changeTexts('delete', fullName),
    send: async (options) => {
      // Deleting the selected row would move the keyboard focus to the top of the tree.
      if (asBranchNode(argument) !== undefined) await revealRow(context, { projectId: picked.projectId });
      const unprotect = picked.branch.protected === true;
      return await context.branchActions.delete(picked, { unprotect }, options);
    },
  });
};

async function explainDeletionProblem(
  { fullName, projectId }: PickedBranch,
  problem: DeletionProblem,
): Promise<void> {
  if (problem.kind === 'root') {
    const message = l10n.t("{0} can't be deleted because it is the root branch of its project.", fullName);
    const button = l10n.t('Delete Project…');
    if ((await window.showWarningMessage(message, button)) === button)
      await executeCommand('hostedPostgres.project.delete', { kind: 'project', projectId });
    return;
  }
  const message =
    problem.kind === 'parent'
      ? l10n.t(
          "{0} can't be deleted because it has child branches, such as {1}. Delete them first.",
          fullName,
          displayName(problem.child),
        )
      : l10n.t(
          "{0} can't be deleted because it is the default branch. Set another branch as default first.",
          fullName,
        );
  await window.showWarningMessage(message);
}
