/** Reset Password…: gives a role of a branch a new password, which is shown once. */
import { l10n } from 'vscode';
import type { ResetPassword } from '../../../api/client.ts';
import { isFinal } from '../../../model/operations/pendingChange.ts';
import type { Role } from '../../../api/records/records.ts';
import { canLogIn } from '../../../model/connection/connectionDefaults.ts';
import type { BranchNode } from '../../../model/inventory/nodes.ts';
import { requireWritable } from '../../notifications/approval.ts';
import { branchLabel } from '../../text/branchText.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { makeChange } from '../change.ts';
import type { Command, CommandContext } from '../context.ts';
import { pickBranch } from '../input/branchPicker.ts';
import { loadIfOffered, showOnce } from '../input/dialogs.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { enterText, pickOne } from '../input/quickInput.ts';

type Branch = Pick<BranchNode, 'projectId' | 'branchId'>;

export const resetPassword: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't reset the password");
  const title = l10n.t('Reset Password');
  const branch = await pickBranch(context, title, argument);
  if (branch === undefined) return;
  requireWritable(context.guards, branch);
  const role = await askForRole(context, title, branch);
  if (role === undefined) return;
  const name = sanitize(role);
  run.failureMessage = l10n.t("Couldn't reset the password of {0}", name);
  const label = branchLabel(branch.branchId, branch.branch);
  run.unknownOutcome = l10n.t('The old password may no longer work.');
  const result = await makeChange(context, run, {
    ...branch,
    name,
    question: l10n.t('Reset the password of {0} on branch {1}?', name, label),
    detail: l10n.t(
      "This can't be undone. Connections to the branch are dropped, and programs need the new password.",
    ),
    button: l10n.t('Reset Password'),
    progress: l10n.t('Resetting the password of {0}', name),
    send: (options) => context.branchActions.resetPassword(branch, role, options),
  });
  if (result === undefined) return;
  context.log.addSecret(result.password);
  await showPassword(name, result);
};

async function askForRole(
  context: CommandContext,
  title: string,
  branch: Branch,
): Promise<string | undefined> {
  const roles = await loadRoles(context, title, branch);
  if (roles === undefined) {
    const prompt = l10n.t('Role whose password to reset');
    return await singleStep(title, enterText({ prompt }));
  }
  const items = roles.filter(canLogIn).map(({ name }) => ({ label: sanitize(name), value: name }));
  const placeholder = l10n.t('Select a role');
  return await singleStep(title, pickOne({ placeholder, items }));
}

/** @returns undefined if the service doesn't offer the list, at all or to this key */
async function loadRoles(
  { session }: CommandContext,
  title: string,
  { projectId, branchId }: Branch,
): Promise<readonly Role[] | undefined> {
  const { connection } = session;
  return await loadIfOffered(title, async () =>
    (await connection?.client())?.listRoles(projectId, branchId, { signal: connection?.signal }),
  );
}

async function showPassword(role: string, { password, operations }: ResetPassword): Promise<void> {
  const isApplied = operations.every((operation) => isFinal(operation));
  const detail = isApplied
    ? password
    : l10n.t('{0}\n\nIt works as soon as the service has applied it, usually within seconds.', password);
  const done = l10n.t('Copied the password of {0}', role);
  const copy = { button: l10n.t('Copy Password'), secret: password, done };
  await showOnce(l10n.t('Reset the password of {0}', role), detail, copy);
}
