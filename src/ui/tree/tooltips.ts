/** Tooltips as Markdown tables. Every value is escaped: names are other people's text. */
import { l10n, MarkdownString } from 'vscode';
import { autosuspendSeconds } from '../../api/autosuspend.ts';
import type { Compute, Project } from '../../api/records.ts';
import { maxConnections } from '../../api/sizes.ts';
import { labelOf, sizeOf, sizeText } from '../../model/computeStatus.ts';
import type { Inventory } from '../../model/inventory.ts';
import { markdown } from '../plain.ts';
import { statusText, typeText } from './computeWords.ts';
import type { TreeNode } from './nodes.ts';

/** Undefined for nodes that say all in their label. */
export function tooltip(inventory: Inventory, node: TreeNode): MarkdownString | undefined {
  if (node.kind === 'project') {
    const project = inventory.project(node.projectId);
    return project && table(project.name, projectRows(project));
  }
  if (node.kind !== 'compute') return undefined;
  const compute = inventory.compute(node.projectId, node.computeId);
  return compute && table(labelOf(compute), computeRows(compute));
}

type Row = readonly [name: string, value: string | number | null | undefined];

const projectRows = (project: Project): Row[] => [
  [l10n.t('Id'), project.id],
  [l10n.t('Region'), project.region_id],
  ['Postgres', project.pg_version],
  [l10n.t('Created'), project.created_at && date(project.created_at)],
];

function computeRows(compute: Compute): Row[] {
  const size = sizeOf(compute);
  const delay = autosuspendSeconds(compute.suspend_timeout_seconds ?? undefined);
  return [
    [l10n.t('Id'), compute.id],
    [l10n.t('Host'), compute.host],
    [l10n.t('State'), statusText(compute)],
    [l10n.t('Type'), typeText(compute)],
    [l10n.t('Branch'), compute.branch_id],
    [l10n.t('Size'), sizeText(compute)],
    ['max_connections', size && maxConnections(size.min)],
    [l10n.t('Autosuspend'), delay === undefined ? l10n.t('never') : l10n.t('after {0} s', delay)],
    [l10n.t('Pooled connections'), compute.pooler_enabled === true ? l10n.t('on') : l10n.t('off')],
    [l10n.t('Last active'), compute.last_active && date(compute.last_active)],
  ];
}

const date = (timestamp: string): string => {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? timestamp : new Date(time).toLocaleString();
};

function table(title: string, rows: readonly Row[]): MarkdownString {
  const cells = rows.flatMap(([name, value]) =>
    value === undefined || value === null || value === ''
      ? []
      : [`| ${markdown(name)} | ${markdown(String(value))} |`],
  );
  return new MarkdownString(`**${markdown(title)}**\n\n| | |\n|---|---|\n${cells.join('\n')}`);
}
