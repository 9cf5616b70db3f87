/** The rows of snapshots, below their branch. */
import { l10n, ThemeIcon, TreeItem, TreeItemCollapsibleState, type MarkdownString } from 'vscode';
import type { Snapshot } from '../../../api/records/records.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { markdownTable } from '../../window/ui/markdown.ts';
import { formatDate, timeAndDate } from '../../window/ui/timeText.ts';
import type { SnapshotNode } from '../nodes.ts';
import { snapshotTime } from '../snapshotLists.ts';
import { bytesText } from './branchText.ts';

/** Returns the row of all snapshots of a branch. @param branch the name of the branch */
export function snapshotsItem(count: number, branch: string): TreeItem {
  const item = new TreeItem(l10n.t('Snapshots'), TreeItemCollapsibleState.Collapsed);
  // Without an icon, VS Code would draw the rows below further left than the name of the branch.
  item.iconPath = new ThemeIcon('archive');
  item.contextValue = 'snapshots';
  item.description = String(count);
  item.accessibilityInformation = { label: `${l10n.t('Snapshots of {0}', branch)}, ${count}` };
  return item;
}

export function snapshotItem({ snapshotId }: SnapshotNode, snapshot: Snapshot | undefined): TreeItem {
  // The snapshot was deleted since the last refresh. Its row is about to be removed.
  if (snapshot === undefined) return new TreeItem(snapshotId);
  const name = sanitize(snapshot.name, 80) || snapshotId;
  const item = new TreeItem(name);
  item.iconPath = new ThemeIcon('device-camera');
  item.contextValue = 'snapshot';
  const time = snapshotTime(snapshot);
  const label = l10n.t('Snapshot {0}', name);
  item.accessibilityInformation = { label };
  if (time === 0) return item;
  // The row is redrawn too rarely for “5 minutes ago”.
  item.description = formatDate(new Date(time).toISOString());
  item.accessibilityInformation = { label: `${label}, ${item.description}` };
  return item;
}

export function snapshotTooltip(snapshot: Snapshot): MarkdownString {
  const { id, name, timestamp, created_at, expires_at, full_size: size } = snapshot;
  const dataOf = timestamp ?? created_at;
  return markdownTable(name || id, [
    [l10n.t('Id'), id],
    [l10n.t('Data of'), dataOf && timeAndDate(dataOf)],
    [l10n.t('Size'), typeof size === 'number' ? bytesText(size) : undefined],
    [l10n.t('Expires'), expires_at && timeAndDate(expires_at)],
    [l10n.t('Created'), timestamp && created_at && timeAndDate(created_at)],
  ]);
}
