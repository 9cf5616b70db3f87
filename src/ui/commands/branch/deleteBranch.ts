import { commands, l10n } from 'vscode';
import { deletionProblem } from '../../../model/inventory/branchStatus.ts';
import { asBranchNode } from '../../../model/inventory/nodes.ts';
import { branchTitle } from '../../text/branchText.ts';
import { makeChange } from '../change.ts';
import type { Command, CommandContext } from '../context.ts';
import { pickBranch, type PickedBranch } from '../input/branchPicker.ts';
import { revealRow } from '../revealRow.ts';
import { window } from '../../window.ts';

/** If the service would reject it, says why instead of asking. */
export const deleteBranch: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't delete the branch");
  const picked = await pickBranch(context, l10n.t('Delete Branch'), argument);
  if (picked === undefined) return;
  const { name } = picked;
  run.failureMessage = l10n.t("Couldn't delete {0}", name);
  if (deletionProblem(picked.list, picked.branch) !== undefined) return await explain(picked);
  await makeChange(context, run, {
    ...picked,
    question: l10n.t('Delete {0}?', name),
    detail: deletionDetail(context, picked),
    button: l10n.t('Delete'),
    progress: l10n.t('Deleting {0}', name),
    done: l10n.t('Deleted {0}', name),
    send: async (options) => {
      // Deleting the selected row would move the keyboard focus to the top of the tree.
      if (asBranchNode(argument) !== undefined)
        await revealRow(context, { kind: 'project', projectId: picked.projectId });
      const unprotect = picked.branch.protected === true;
      return await context.branchActions.delete(picked, { unprotect }, options);
    },
  });
};

function deletionDetail({ inventory }: CommandContext, { projectId, branchId }: PickedBranch): string {
  const computes = inventory.computesOf(projectId)?.branches().get(branchId)?.length ?? 0;
  return computes === 0
    ? l10n.t("This can't be undone. Its data is deleted.")
    : l10n.t(
        "This can't be undone. Its data and computes ({0}) are deleted, and connections are dropped.",
        computes,
      );
}

async function explain({ name, branch, list, projectId }: PickedBranch): Promise<void> {
  const problem = deletionProblem(list, branch);
  if (problem?.kind === 'parent') {
    const child = branchTitle(problem.child.id, problem.child);
    await window.showWarningMessage(
      l10n.t(
        "{0} can't be deleted because it has child branches, such as {1}. Delete them first.",
        name,
        child,
      ),
    );
  } else if (problem?.kind === 'default')
    await window.showWarningMessage(
      l10n.t(
        "{0} can't be deleted because it is the default branch. Set another branch as default first.",
        name,
      ),
    );
  else {
    const message = l10n.t("{0} can't be deleted because it is the root branch of its project.", name);
    const button = l10n.t('Delete Project…');
    if ((await window.showWarningMessage(message, button)) === button)
      await commands.executeCommand('hostedPostgres.project.delete', { kind: 'project', projectId });
  }
}
