/** The operations of a project or compute as a read-only Markdown document, and the last day of each compute as a picture. */
import { env, l10n, workspace, type EventEmitter, type Uri } from 'vscode';
import type { Compute, Operation } from '../../../api/records/records.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { displayName, escapeMarkdown } from '../../../base/sanitize.ts';
import { unitText } from '../../../base/translator.ts';
import { withExplainedErrors } from '../../window/ui/errorMessage.ts';
import { timeAgo, durationText, formatDate } from '../../window/ui/timeText.ts';
import { nameUnlessId } from '../../inventory/names.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { compareComputes } from '../../inventory/computeStatus.ts';
import { operationsKnownSince, lastDayActivity } from '../../operations/activitySpans.ts';
import type { OperationTracker } from '../../operations/operationTracker.ts';
import { isFailedOperation, isEndedOperation } from '../../operations/pendingChange.ts';
import { activityPicture, activitySummary } from '../../operations/ui/activityPicture.ts';
import { parseDetailsUri, requireDocumentNode, type DetailsDependencies } from '../details.ts';
import { OPERATIONS_SCHEME } from '../detailsScheme.ts';

/**
 * The most operations of a document: as many as one request returns. For most projects, these are more than those of a day, and the
 * local service keeps no more.
 */
const MAX_OPERATIONS = 500;

interface History {
  readonly operations: readonly Operation[];
  readonly isComplete: boolean;
  readonly now: number;
}

/** @param changed fired only when a change of this window has ended, because nothing is polled */
export const followOperations = (tracker: OperationTracker, changed: EventEmitter<Uri>): Disposable =>
  tracker.onDidEnd(({ change }) => {
    for (const { uri } of workspace.textDocuments) {
      if (uri.scheme !== OPERATIONS_SCHEME) continue;
      const { node } = parseDetailsUri(uri);
      if (node !== undefined && 'projectId' in node && node.projectId === change.projectId) changed.fire(uri);
    }
  });

/** @throws {Error} with a message for the user */
export const operationsText = (deps: DetailsDependencies, uri: Uri): Promise<string> =>
  withExplainedErrors(() => readOperations(deps, uri));

async function readOperations(deps: DetailsDependencies, uri: Uri): Promise<string> {
  const { inventory } = deps;
  const { connection, node } = await requireDocumentNode(deps, uri);
  if (node.kind === 'apiKey') throw new Error('API keys have no operations.');
  const { projectId } = node;
  const client = await connection.client();
  const [found] = await Promise.all([
    client.listOperations(projectId, MAX_OPERATIONS, { signal: connection.signal }),
    inventory.ensureComputes(projectId),
    inventory.branches.ensureLoaded(projectId),
  ]);
  if (found === undefined) return `${l10n.t('The service keeps no history of operations.')}\n`;
  const computes = [...(inventory.computesOf(projectId)?.computes.values() ?? [])].sort(compareComputes);
  const shown = node.kind === 'compute' ? computes.filter(({ id }) => id === node.computeId) : computes;
  const history = { ...found, now: Date.now() };
  const ofNode = history.operations.filter(
    ({ endpoint_id }) => node.kind !== 'compute' || endpoint_id === node.computeId,
  );
  return [
    `# ${escapeMarkdown(l10n.t('Operations of {0}', resourceText(inventory, node)))}`,
    escapeMarkdown(countText(history, ofNode.length)),
    `## ${escapeMarkdown(l10n.t('Last day'))}`,
    escapeMarkdown(l10n.t('Full bar: active. Half bar: starting. Line: idle.')),
    ...shown.map((each) => daySection(each, history)),
    `## ${escapeMarkdown(l10n.t('Operations'))}`,
    operationsTable(deps, ofNode, node.kind !== 'compute'),
    '',
  ].join('\n\n');
}

function countText({ isComplete, now }: History, count: number): string {
  const at = formatDate(new Date(now).toISOString());
  return isComplete
    ? l10n.t('{0} operations, as of {1}.', count, at)
    : l10n.t('The newest {0} operations, as of {1}. The service may have older ones.', count, at);
}

/** Returns the last day of a compute as a picture, and then as text for readers who can't see it. */
function daySection(compute: Compute, history: History): string {
  const { spans, starts } = lastDayActivity(compute, {
    ...history,
    knownSince: operationsKnownSince(history),
  });
  const name = displayName(compute);
  const summary = activitySummary(spans, starts.filter(({ isRestart }) => !isRestart).length);
  const label = l10n.t('{0} in the last day: {1}', name, summary);
  return `### ${escapeMarkdown(name)}\n\n${activityPicture(spans, label)}\n\n${escapeMarkdown(summary)}`;
}

function operationsTable(
  deps: DetailsDependencies,
  operations: readonly Operation[],
  withTarget: boolean,
): string {
  const hasOrigin = operations.some(({ triggered_by }) => originText(triggered_by) !== '');
  const columns: readonly (readonly [title: string, cell: (operation: Operation) => string])[] = [
    [l10n.t('When'), ({ created_at }) => timeText(created_at)],
    [l10n.t('Operation'), ({ action }) => actionText(action)],
    ...(withTarget ? [[l10n.t('Target'), (each: Operation) => targetText(deps, each)] as const] : []),
    [l10n.t('Duration'), operationDuration],
    ...(hasOrigin
      ? [[l10n.t('Started by'), ({ triggered_by }: Operation) => originText(triggered_by)] as const]
      : []),
    [l10n.t('Result'), resultText],
  ];
  const row = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  return [
    row(columns.map(([title]) => title)),
    `|${' --- |'.repeat(columns.length)}`,
    ...operations.map((operation) => row(columns.map(([, cell]) => cell(operation)))),
  ].join('\n');
}

const timeText = (time: string | null | undefined): string =>
  time ? `${timeAgo(time)} (${formatDate(time)})` : '';

/** Returns the name of the compute or branch that an operation was about, or else the id. */
function targetText({ inventory }: DetailsDependencies, operation: Operation): string {
  const { project_id: projectId, endpoint_id: computeId, branch_id: branchId } = operation;
  const compute = computeId ? inventory.compute(projectId, computeId) : undefined;
  if (compute !== undefined) return displayName(compute);
  const branch = branchId ? inventory.branches.get(projectId, branchId) : undefined;
  return computeId ?? nameUnlessId(branch) ?? branchId ?? '';
}

/** Returns the text of an action, or the action itself if it is unknown. */
function actionText(action: string): string {
  const texts: Readonly<Record<string, string>> = {
    start_compute: l10n.t('Start compute'),
    suspend_compute: l10n.t('Suspend compute'),
    apply_config: l10n.t('Apply configuration'),
    check_availability: l10n.t('Check compute'),
    create_branch: l10n.t('Create branch'),
    create_timeline: l10n.t('Create branch'),
    delete_timeline: l10n.t('Delete branch'),
  };
  return Object.hasOwn(texts, action) ? (texts[action] ?? '') : action;
}

const operationDuration = ({ status, total_duration_ms: ms }: Operation): string => {
  if (!isEndedOperation({ status }) || typeof ms !== 'number') return '';
  return ms < 10_000
    ? unitText(env.language, ms / 1000, 'second', { maximumFractionDigits: 1 })
    : durationText(ms / 1000);
};

/** Returns what has started an operation. Only the local service reports that. */
function originText(origin: string | null | undefined): string {
  if (origin === 'connection') return l10n.t('a connection');
  return origin === 'inactivity' ? l10n.t('inactivity') : '';
}

/** Returns the service's status, with its message about a failure. */
function resultText({ status, error, failures_count: failures }: Operation): string {
  const state = isFailedOperation({ status }) ? l10n.t('failed') : status;
  const shown = status === 'finished' ? l10n.t('finished') : state;
  if (error) return `${shown}: ${error}`;
  return failures ? l10n.t('{0} ({1} failed attempts)', shown, failures) : shown;
}
