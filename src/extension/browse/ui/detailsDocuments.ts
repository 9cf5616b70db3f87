/** Shows the fields of a resource as a read-only document, which VS Code may reopen after a reload. */
import { l10n, workspace, type EventEmitter, type Uri } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import {
  detailsJson,
  parseDetailsUri,
  readDetails,
  readServerLog,
  type Details,
  type DetailsDependencies,
} from '../details.ts';
import { DETAILS_SCHEME } from '../detailsScheme.ts';
import { changedProjects } from '../../inventory/nodes.ts';
import { bytesText } from '../../inventory/ui/branchText.ts';
import { nodeTooltip } from '../../inventory/ui/treeItems.ts';
import { keyTable } from '../../signIn/ui/apiKeysTree.ts';
import { withExplainedErrors } from '../../window/ui/errorMessage.ts';
import { markdown, markdownTable, type MarkdownRow } from '../../window/ui/markdown.ts';
import { durationText } from '../../window/ui/timeText.ts';

/** @param changed fired when the resource of an open document may have changed */
export const followDetails = (
  { inventory }: Pick<DetailsDependencies, 'inventory'>,
  changed: EventEmitter<Uri>,
): Disposable =>
  inventory.onDidChange((changes) => {
    const projects = changedProjects(changes);
    for (const { uri } of workspace.textDocuments) {
      if (uri.scheme !== DETAILS_SCHEME) continue;
      const { node } = parseDetailsUri(uri);
      if (node !== undefined && 'projectId' in node && projects.has(node.projectId)) changed.fire(uri);
    }
  });

/** @throws {Error} with a message for the user */
export const detailsText = (deps: DetailsDependencies, uri: Uri): Promise<string> =>
  withExplainedErrors(async () => {
    if (parseDetailsUri(uri).isLog) return logText(await readServerLog(deps, uri));
    const details = await readDetails(deps, uri);
    const isPage = uri.path.endsWith('.md');
    if (details === undefined) return `${isPage ? '' : '// '}${l10n.t('It no longer exists.')}\n`;
    return isPage ? pageText(deps, details) : detailsJson(details);
  });

function logText(lines: readonly string[] | undefined): string {
  if (lines === undefined) return `${l10n.t('The service provides no Postgres log.')}\n`;
  if (lines.length === 0) return `${l10n.t('Postgres has logged nothing since the service started.')}\n`;
  return `${lines.join('\n')}\n`;
}

/** Returns what the tooltip shows, followed by how much is stored and what is in progress. */
function pageText(
  { inventory, apiKeys }: DetailsDependencies,
  { node, activity, operations }: Details,
): string {
  const table = node.kind === 'apiKey' ? keyTable(apiKeys, node) : nodeTooltip(inventory, node, { activity });
  const stored = storageRows(inventory, node).filter(([, value]) => value);
  const pending = operations.map(({ action, status }): MarkdownRow => [action, status]);
  return [
    markdown`# ${kindText(node.kind)}`,
    ...(table === undefined ? [] : [table]),
    ...(stored.length > 0 ? [markdownTable(l10n.t('Storage'), stored)] : []),
    ...(pending.length > 0 ? [markdownTable(l10n.t('In progress'), pending)] : []),
    markdown`${l10n.t('“Show as JSON” in the title has all fields, as the service sent them.')}`,
  ]
    .map(({ value }) => `${value}\n`)
    .join('\n');
}

function storageRows(
  inventory: DetailsDependencies['inventory'],
  node: Details['node'],
): readonly MarkdownRow[] {
  if (node.kind === 'branch') {
    const { logical_size: data, history_size: history } =
      inventory.branches.get(node.projectId, node.branchId) ?? {};
    return [
      [l10n.t('Data'), data && bytesText(data)],
      [l10n.t('History on disk'), history && bytesText(history)],
    ];
  }
  const seconds = node.kind === 'project' && inventory.project(node.projectId)?.history_retention_seconds;
  return [[l10n.t('History is kept for'), seconds ? durationText(seconds) : undefined]];
}

function kindText(kind: Details['node']['kind']): string {
  const texts = {
    project: l10n.t('Project'),
    branch: l10n.t('Branch'),
    compute: l10n.t('Compute'),
    apiKey: l10n.t('API key'),
  };
  return texts[kind];
}
