import { l10n, MarkdownString } from 'vscode';
import type { Project } from '../../api/records/records.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import { computeTable, formatDate, markdownTable, type Row } from '../text/computeTable.ts';
import type { TreeNode } from './nodes.ts';

/** Returns undefined for nodes whose label says everything. */
export function tooltip(inventory: Inventory, node: TreeNode): MarkdownString | undefined {
  if (node.kind === 'project') {
    const project = inventory.project(node.projectId);
    return project && new MarkdownString(markdownTable(project.name, projectRows(project)));
  }
  if (node.kind !== 'compute') return undefined;
  const compute = inventory.compute(node.projectId, node.computeId);
  return compute && new MarkdownString(computeTable(compute));
}

const projectRows = (project: Project): Row[] => [
  [l10n.t('Id'), project.id],
  [l10n.t('Region'), project.region_id],
  ['Postgres', project.pg_version],
  [l10n.t('Created'), project.created_at && formatDate(project.created_at)],
];
