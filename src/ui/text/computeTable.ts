/** The table about a compute in tooltips and hovers. */
import { l10n, type MarkdownString } from 'vscode';
import type { Compute } from '../../api/records/records.ts';
import { maxConnections } from '../../api/records/sizes.ts';
import type { Usage } from '../../model/inventory/usage.ts';
import { labelOf, sizeOf, sizeText } from '../../model/inventory/computeStatus.ts';
import { pooledHost } from '../../model/connection/connectionStrings.ts';
import { settingsOn } from '../../model/settings/pgSettings.ts';
import { poolingText, statusText, typeText } from './computeText.ts';
import { formatDate } from './date.ts';
import { autosuspendText } from './durationText.ts';
import { markdownTable, type Row } from './markdown.ts';
import { usageText } from './usageText.ts';

/** @param branchName undefined if it isn't known. @param branchUsage of all computes: services don't count each one */
export const computeTable = (
  compute: Compute,
  branchName?: string,
  branchUsage: Usage = {},
): MarkdownString => markdownTable(labelOf(compute), computeRows(compute, branchName, branchUsage));

function computeRows(compute: Compute, branchName: string | undefined, branchUsage: Usage): Row[] {
  const size = sizeOf(compute);
  const settings = Object.entries(settingsOn(compute));
  return [
    [l10n.t('Id'), compute.id],
    [l10n.t('Host'), compute.host],
    [l10n.t('State'), statusText(compute)],
    [l10n.t('Type'), typeText(compute)],
    [l10n.t('Branch'), branchName === undefined ? compute.branch_id : `${compute.branch_id} (${branchName})`],
    [l10n.t('Size'), sizeText(compute)],
    ['max_connections', size && maxConnections(size.min)],
    [l10n.t('Autosuspend'), autosuspendText(compute.suspend_timeout_seconds)],
    [l10n.t('Pooled connections'), poolingText(compute)],
    [l10n.t('Pooled host'), pooledHost(compute)],
    [l10n.t('Postgres settings'), settings.map(([name, value]) => `${name} = ${value}`).join(', ')],
    [l10n.t('Last active'), compute.last_active && formatDate(compute.last_active)],
    [l10n.t('Branch used this period'), usageText(branchUsage)],
  ];
}
