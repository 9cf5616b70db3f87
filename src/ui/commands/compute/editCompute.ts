/** Edit Compute…: asks what to change, confirms the consequences and sends only what differs. */
import { commands, l10n, Uri } from 'vscode';
import { changeEffect, type EditEffect } from '../../../api/records/effects.ts';
import type { Compute } from '../../../api/records/records.ts';
import { onlyChanged } from '../../../model/operations/computeActions.ts';
import type { ComputePatch } from '../../../api/records/requests.ts';
import { computeStatus, sizeText } from '../../../model/inventory/computeStatus.ts';
import { isLocalCompute } from '../../../model/connection/connectionStrings.ts';
import { settingsUri } from '../../../model/settings/pgSettings.ts';
import { announce } from '../../notifications/announce.ts';
import type { ApprovalRequest } from '../../notifications/approval.ts';
import { branchLabel } from '../../text/branchText.ts';
import { effectText } from '../../text/changeText.ts';
import { nameOrId } from '../../../base/sanitize.ts';
import { countConnections, makeChange } from '../change.ts';
import type { Command, CommandContext } from '../context.ts';
import { requireConnection } from '../input/pickers.ts';
import { askForEdit } from './editQuestions.ts';

export const edit: Command = async (context, argument, run) => {
  requireConnection(context);
  run.failureMessage = l10n.t("Couldn't edit the compute");
  const answers = await askForEdit(context, argument);
  if (answers === undefined) return;
  const name = nameOrId(answers.compute.name, answers.compute.id);
  run.failureMessage = l10n.t("Couldn't change {0}", name);
  if (answers.edited === 'settings') return await openSettings(context, answers.compute);
  const { project_id: projectId, branch_id: branchId, id: computeId } = answers.compute;
  // The record may have been refreshed during the questions.
  const current = context.inventory.compute(projectId, computeId) ?? answers.compute;
  const change = onlyChanged(current, answers.change);
  if (change === undefined) return announce(l10n.t('Nothing to change on {0}', name), 'info');
  const node = { kind: 'compute', projectId, branchId, computeId } as const;
  await makeChange(context, run, {
    ...node,
    name,
    ...(await questionFor(context, current, change)),
    toBranchId: change.branch_id,
    progress: l10n.t('Changing {0}', name),
    done: l10n.t('Changed {0}', name),
    send: (options) => context.computeActions.update(node, change, options),
  });
};

/** Asks for confirmation only if connections are affected (section 3.2, rule 4), or in production. */
async function questionFor(
  context: CommandContext,
  compute: Compute,
  change: ComputePatch,
): Promise<Pick<ApprovalRequest, 'question' | 'button' | 'detail'>> {
  const { project_id: projectId, id: computeId } = compute;
  const branchId = change.branch_id ?? compute.branch_id;
  const branch = branchLabel(branchId, context.inventory.branches.get(projectId, branchId));
  const effect = changeEffect(compute, change);
  const connections =
    effect === 'none' ? undefined : await countConnections(context, { projectId, computeId });
  const detail = effectText(effect, { connections, toBranch: branch }) ?? poolerText(compute, change);
  const size = sizeText({ ...compute, ...change });
  return { ...buttonFor(effect, nameOrId(compute.name, computeId), { branch, size }), detail };
}

/** A change drops pooled connections only on the local service, which starts or stops PgBouncer if it is installed. */
function poolerText(compute: Compute, { pooler_enabled }: ComputePatch): string | undefined {
  const hasPgBouncer = isLocalCompute(compute) && compute.pooled_sessions === 'shared';
  if (pooler_enabled === undefined || !hasPgBouncer || computeStatus(compute) !== 'active') return undefined;
  return l10n.t('Its pooled connections are dropped. Clients can reconnect at once.');
}

function buttonFor(
  effect: EditEffect,
  name: string,
  { branch, size }: { readonly branch: string; readonly size: string },
) {
  const texts: Record<EditEffect, { readonly question: string; readonly button: string }> = {
    disable: { question: l10n.t('Disable {0}?', name), button: l10n.t('Disable') },
    move: { question: l10n.t('Move {0} to {1}?', name, branch), button: l10n.t('Move') },
    restart: {
      question: l10n.t('Change the size of {0} to {1}?', name, size),
      button: l10n.t('Change and Restart'),
    },
    none: { question: l10n.t('Change {0}?', name), button: l10n.t('Change') },
  };
  return texts[effect];
}

async function openSettings({ session }: CommandContext, compute: Compute): Promise<void> {
  const account = session.connection?.account;
  if (account === undefined) return;
  const node = { projectId: compute.project_id, computeId: compute.id };
  await commands.executeCommand('vscode.open', Uri.from(settingsUri(account, node)));
}
