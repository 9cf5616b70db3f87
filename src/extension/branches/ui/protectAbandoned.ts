/** If a reload interrupted the deletion of a protected branch, protects it again and shows a message. */
import { l10n } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import type { BranchActions, UnprotectedBranch } from '../branchActions.ts';
import { explainError } from '../../window/ui/errorMessage.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { requireWritable } from '../../operations/ui/approval.ts';
import { window } from '../../window/ui/window.ts';
import type { Session } from '../../account/session.ts';
import type { ChangeGuards } from '../../operations/guards.ts';
import type { Log } from '../../window/ui/log.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';

interface ProtectDependencies {
  readonly session: Pick<Session, 'onDidChange'>;
  readonly branchActions: Pick<BranchActions, 'leftUnprotected' | 'protectAgain'>;
  readonly guards: ChangeGuards;
  readonly inventory: Inventory;
  readonly log: Pick<Log, 'error'>;
}

export const protectAbandonedBranches = (deps: ProtectDependencies): Disposable =>
  deps.session.onDidChange(({ connection }) => {
    const branches = connection === undefined ? [] : deps.branchActions.leftUnprotected(connection.accountId);
    for (const branch of branches) void protectAgain(deps, branch);
  });

/** Protects a branch again and reports it to the user. Never rejects. */
async function protectAgain(
  { branchActions, guards, inventory, log }: ProtectDependencies,
  branch: UnprotectedBranch,
): Promise<void> {
  // At the start of a window, no project is loaded yet.
  await inventory.ensureProjects().catch(() => undefined);
  const name = resourceText(inventory, branch);
  try {
    requireWritable(guards, branch);
    if (!(await branchActions.protectAgain(branch))) return;
    void window.showWarningMessage(
      l10n.t('The deletion of {0} was interrupted. The branch is protected again.', name),
    );
  } catch (error) {
    log.error('Protecting a branch again', error);
    const message = l10n.t(
      'The deletion of {0} was interrupted, so the branch may no longer be protected: {1}',
      name,
      explainError(error).message,
    );
    const button = l10n.t('Protect Branch');
    if ((await window.showWarningMessage(message, button)) !== button) return;
    const { projectId, branchId } = branch;
    const node = { kind: 'branch', projectId, branchId };
    await executeCommand('hostedPostgres.branch.protect', node);
  }
}
