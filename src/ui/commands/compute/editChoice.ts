/** Asks what to edit on a compute; each item shows the current value. */
import { l10n, type QuickPickItem } from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import { labelOf, sizeText } from '../../../model/inventory/computeStatus.ts';
import { settingsOn } from '../../../model/settings/pgSettings.ts';
import { autosuspendText } from '../../text/durationText.ts';
import { sanitize } from '../../text/sanitize.ts';
import { mapAnswer, type Answer, type Page } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

/** `pooler` and `disabled` are toggled without another question. */
export type Edited = 'size' | 'autosuspend' | 'branch' | 'pooler' | 'disabled' | 'name' | 'settings';

interface EditItem extends QuickPickItem {
  readonly edited: Edited;
}

export async function askWhat(page: Page, compute: Compute): Promise<Answer<Edited>> {
  const placeholder = l10n.t('Select what to change on {0}', sanitize(labelOf(compute)));
  return mapAnswer(await pickOne(page, { placeholder, items: editItems(compute) }), ({ edited }) => edited);
}

function editItems(compute: Compute): EditItem[] {
  const isPooled = compute.pooler_enabled === true;
  const isDisabled = compute.disabled === true;
  const settings = Object.entries(settingsOn(compute)).map(([name, value]) => `${name} = ${value}`);
  return [
    item('size', 'dashboard', l10n.t('Size…'), sizeText(compute)),
    item('autosuspend', 'clock', l10n.t('Autosuspend…'), autosuspendText(compute.suspend_timeout_seconds)),
    item(
      'settings',
      'settings',
      l10n.t('Postgres Settings…'),
      sanitize(settings.join(', ')) || l10n.t('none'),
    ),
    item('branch', 'git-branch', l10n.t('Move to Another Branch…'), sanitize(compute.branch_id)),
    item('name', 'tag', l10n.t('Name…'), sanitize(compute.name ?? '') || l10n.t('none')),
    isPooled
      ? item('pooler', 'plug', l10n.t('Turn Pooled Connections Off'), l10n.t('on'))
      : item('pooler', 'plug', l10n.t('Turn Pooled Connections On'), l10n.t('off')),
    isDisabled
      ? item('disabled', 'play', l10n.t('Enable'), l10n.t('disabled'))
      : item('disabled', 'circle-slash', l10n.t('Disable…'), l10n.t('enabled')),
  ];
}

const item = (edited: Edited, icon: string, label: string, current: string): EditItem => ({
  label: `$(${icon}) ${label}`,
  description: current,
  edited,
});
