/** Find Compute…: finds computes by name, id, branch or project and reveals one in the tree. */
import { l10n } from 'vscode';
import type { Command } from '../context.ts';
import { runSteps } from '../input/multiStepInput.ts';
import { computeSteps, requireConnection, type ComputeState } from '../input/pickers.ts';

export const find: Command = async (context, _argument, run) => {
  requireConnection(context);
  run.failureMessage = l10n.t("Couldn't find computes");
  const steps = computeSteps<ComputeState>(context, l10n.t('Search by name, id, branch or project'));
  const found = await runSteps<ComputeState>(l10n.t('Find Compute'), {}, steps);
  if (found?.node !== undefined) await context.computesView.reveal(found.node);
};
