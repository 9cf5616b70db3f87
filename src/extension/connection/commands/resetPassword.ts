/** Reset Password…: gives a role of a branch a new password, which is shown once. */
import { l10n } from 'vscode';
import type { ResetPassword } from '../../../api/client.ts';
import { isEndedOperation } from '../../operations/pendingChange.ts';
import { canLogIn } from '../../../api/passwords.ts';
import { requireWritable } from '../../operations/ui/approval.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { makeChange } from '../../commandSupport/change.ts';
import type { Command, CommandContext } from '../../commandSupport/context.ts';
import { pickBranch, type PickedBranch } from '../../commandSupport/branchPicker.ts';
import { loadIfOffered, showSecret } from '../../window/ui/input/dialogs.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { enterText, pickOne } from '../../window/ui/input/quickInput.ts';

export const resetPassword: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't reset the password");
  const title = l10n.t('Reset Password');
  const branch = await pickBranch(context, title, argument);
  if (branch === undefined) return;
  requireWritable(context.guards, branch);
  const role = await askForRole(context, title, branch);
  if (role === undefined) return;
  const name = sanitize(role);
  run.failureMessage = l10n.t("Couldn't reset the password of {0} on {1}", name, branch.fullName);
  run.unknownOutcome = l10n.t('The old password may no longer work.');
  const result = await makeChange(context, run, {
    ...branch,
    name,
    question: l10n.t('Reset the password of {0} on {1}?', name, branch.fullName),
    isLoss: true,
    detail: l10n.t('Connections to the branch are dropped, and programs need the new password.'),
    button: l10n.t('Reset Password'),
    progress: l10n.t('Resetting the password of {0} on {1}', name, branch.fullName),
    send: (options) => context.branchActions.resetPassword(branch, role, options),
  });
  if (result === undefined) return;
  context.log.addSecret(result.password);
  await showPassword(name, result);
};

/** Asks for a role: from the list, or as text if the service doesn't offer the list, at all or to this key. */
async function askForRole(
  { session }: CommandContext,
  title: string,
  { projectId, branchId }: PickedBranch,
): Promise<string | undefined> {
  const { connection } = session;
  const roles = await loadIfOffered(title, async () =>
    (await connection?.client())?.listRoles(projectId, branchId, { signal: connection?.signal }),
  );
  if (roles === undefined)
    return await singleStep(title, enterText({ prompt: l10n.t('Role whose password to reset') }));
  const items = roles.filter(canLogIn).map(({ name }) => ({ label: sanitize(name), value: name }));
  return await singleStep(title, pickOne({ placeholder: l10n.t('Select a role'), items }));
}

async function showPassword(role: string, { password, operations }: ResetPassword): Promise<void> {
  const isApplied = operations.every((operation) => isEndedOperation(operation));
  const detail = isApplied
    ? password
    : l10n.t(
        '{0}\n\nThe password works as soon as the service has applied it, usually within seconds.',
        password,
      );
  const done = l10n.t('Copied the password of {0}', role);
  const copy = { button: l10n.t('Copy Password'), secret: password, done };
  await showSecret(l10n.t('Reset the password of {0}', role), detail, copy);
}
