import { l10n } from 'vscode';
import { operationsText, pendingText } from '../../text/changeText.ts';
import type { Command } from '../context.ts';
import { pickOne } from '../input/quickInput.ts';

/** Lists what is under way; picking one reveals its compute. */
export const show: Command = async ({ tracker, computesView }, _argument, run) => {
  run.couldNot = l10n.t('Could not show the compute');
  const items = tracker.pending.map((change) => ({
    label: `$(sync~spin) ${pendingText(change)}`,
    description: operationsText(change),
    change,
  }));
  const title = l10n.t('Operations');
  const placeholder =
    items.length === 0 ? l10n.t('Nothing is pending') : l10n.t('Pick one to see its compute');
  const picked = await pickOne({ title, step: 1, steps: 1, canGoBack: false }, { placeholder, items });
  if (typeof picked === 'object') await computesView.revealById(picked.change);
};
