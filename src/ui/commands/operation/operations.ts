import { l10n, ThemeIcon } from 'vscode';
import { operationsText, pendingText } from '../../text/changeText.ts';
import type { Command } from '../context.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

/** Lists pending operations and reveals the compute of the one the user picks. */
export const showOperations: Command = async ({ tracker, computesView }, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't show the compute");
  const items = tracker.pending.map((change) => ({
    label: pendingText(change),
    iconPath: new ThemeIcon('sync~spin'),
    description: operationsText(change),
    value: change,
  }));
  const placeholder =
    items.length === 0 ? l10n.t('No pending operations') : l10n.t('Select an operation to show its compute');
  const picked = await singleStep(l10n.t('Operations'), (page) => pickOne(page, { placeholder, items }));
  if (picked !== undefined) await computesView.revealById(picked);
};
