/** What is asked before settings are applied: about a newer version on the service, and about the restart. */
import { commands, l10n, window, type Uri } from 'vscode';
import type { Compute } from '../../api/records.ts';
import { labelOf } from '../../model/computeStatus.ts';
import { effectText } from '../text/effectText.ts';
import { sanitize } from '../text/sanitize.ts';

/** Section 3.2, rules 1 and 6: a change takes effect at once and drops connections. */
export async function confirmRestart(compute: Compute): Promise<boolean> {
  const apply = l10n.t('Apply and Restart');
  const question = l10n.t('Apply the Postgres settings to {0}?', sanitize(labelOf(compute)));
  const detail = effectText('restart') ?? '';
  return (await window.showWarningMessage(question, { modal: true, detail }, apply)) === apply;
}

/** Somebody else has changed the settings since they were read. */
export async function askAboutConflict(compute: Compute): Promise<'compare' | 'overwrite' | undefined> {
  const [compare, overwrite] = [l10n.t('Compare'), l10n.t('Overwrite')];
  const question = l10n.t(
    'The Postgres settings of {0} have changed on the service',
    sanitize(labelOf(compute)),
  );
  const detail = l10n.t(
    'This document is based on an older version. Select Compare to see both versions; nothing is applied until you save again.',
  );
  const chosen = await window.showWarningMessage(question, { modal: true, detail }, compare, overwrite);
  if (chosen === compare) return 'compare';
  return chosen === overwrite ? 'overwrite' : undefined;
}

/** The version on the service, as a document of its own. */
export const comparedTo = (document: Uri): Uri => document.with({ fragment: 'service' });

/** The version on the service, read-only, beside the document. */
export async function showDifference(document: Uri, compute: Compute): Promise<void> {
  const title = l10n.t('{0}: on the service ↔ in this document', sanitize(labelOf(compute)));
  await commands.executeCommand('vscode.diff', comparedTo(document), document, title);
}
