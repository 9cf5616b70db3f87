/** Start and suspend a compute. Not every service offers these calls. */
import { l10n } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { computeStatus } from '../../../model/inventory/computeStatus.ts';
import { announce } from '../../notifications/announce.ts';
import { approve, requireWritable } from '../../notifications/approval.ts';
import { requireOffered } from '../../notifications/startOffered.ts';
import { suspendText } from '../../text/effectText.ts';
import type { Command } from '../context.ts';
import { withProgress } from '../input/dialogs.ts';
import { nodeLabel, pickCompute } from '../input/pickers.ts';
import { window } from '../../window.ts';

const isIdle = (compute: Compute): boolean => computeStatus(compute) === 'idle';
const isActive = (compute: Compute): boolean => computeStatus(compute) === 'active';

/** Asks for confirmation only in production and on protected branches: starting interrupts nothing. */
export const start: Command = async (context, argument, run) => {
  const node = await pickCompute(context, l10n.t('Start Compute'), argument, isIdle);
  if (node === undefined) return;
  const name = nodeLabel(context, node);
  run.failureMessage = l10n.t("Couldn't start {0}", name);
  const question = l10n.t('Start {0}?', name);
  if (
    !(await approve(
      context.guards,
      { ...node, name, question, button: l10n.t('Start') },
      run.initialConnection,
    ))
  )
    return;
  const change = await withProgress(l10n.t('Starting {0}', name), (options) =>
    context.changes.start(node, options),
  );
  // The status bar shows a pending change and its end.
  if (!requireOffered(change).isPending) announce(l10n.t('Started {0}', name));
};

export const suspend: Command = async (context, argument, run) => {
  const node = await pickCompute(context, l10n.t('Suspend Compute'), argument, isActive);
  if (node === undefined) return;
  const name = nodeLabel(context, node);
  run.failureMessage = l10n.t("Couldn't suspend {0}", name);
  requireWritable(context.guards, node);
  const connections = await window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, () =>
    context.changes.openConnections(node),
  );
  const detail = connections === 0 ? undefined : suspendText(connections);
  const question = l10n.t('Suspend {0}?', name);
  if (
    !(await approve(
      context.guards,
      { ...node, name, question, detail, button: l10n.t('Suspend') },
      run.initialConnection,
    ))
  )
    return;
  const change = await withProgress(l10n.t('Suspending {0}', name), (options) =>
    context.changes.suspend(node, options),
  );
  if (!requireOffered(change).isPending) announce(l10n.t('Suspended {0}', name));
};
