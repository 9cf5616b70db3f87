/** The steps of every command that makes a change: ask, send with progress, announce the result. */
import { l10n, ProgressLocation } from 'vscode';
import type { CallOptions } from '../../api/client.ts';
import { hasNoConnections, type OpenConnections } from '../../api/records/effects.ts';
import type { SendOptions } from '../operations/changeSender.ts';
import { announce } from '../window/ui/announce.ts';
import { approveChange, requireWritable, type ApprovalRequest } from '../operations/ui/approval.ts';
import { window } from '../window/ui/window.ts';
import type { CommandContext, CommandRun } from './context.ts';
import type { ComputeIds, ResourceRef } from '../account/refs.ts';

interface ApprovedAction<T> extends Omit<ApprovalRequest, 'detail'> {
  /** The consequences, as text, or as a function of the number of dropped connections, which are counted first. */
  readonly detail?: string | ((connections: OpenConnections) => string | undefined) | undefined;
  readonly progress: string;
  /** The announcement, unless the command shows the result itself. */
  readonly done?: string | ((result: T) => string | undefined);
  readonly send: (options: SendOptions) => Promise<T>;
}

/**
 * Makes a change if the user approves it, with progress, and announces the result.
 * @returns undefined if the user canceled. @throws {ApiError} @throws {ReadOnlyError} @throws {AccountSwitchedError}
 */
export async function makeChange<T extends object>(
  { guards, computeActions }: Pick<CommandContext, 'guards' | 'computeActions'>,
  run: CommandRun,
  { progress, done, send, drops, detail, ...request }: ApprovedAction<T>,
): Promise<T | undefined> {
  const { initialConnection } = run;
  if (drops !== undefined) requireWritable(guards, request);
  const isCounted = drops !== undefined && typeof detail === 'function';
  const connections = isCounted ? await countConnections(computeActions, drops) : undefined;
  const consequences = {
    detail: typeof detail === 'function' ? detail(connections) : detail,
    drops: hasNoConnections(connections) ? [] : drops,
  };
  if (!(await approveChange(guards, { ...request, ...consequences }, initialConnection))) return undefined;
  const result = await withProgress(progress, (options) => send({ ...options, initialConnection }));
  // For a pending change, the status bar shows the progress and the end.
  const isPending = 'pendingId' in result && result.pendingId !== undefined;
  const announcement = typeof done === 'function' ? done(result) : done;
  if (announcement !== undefined && !isPending) announce(announcement);
  return result;
}

/** Shows progress in the view. Once the call has to wait and retry, a notification offers to cancel it. */
async function withProgress<T>(title: string, call: (options: CallOptions) => Promise<T>): Promise<T> {
  const cancellation = new AbortController();
  const ended = Promise.withResolvers<void>();
  let reportWait: ((message: string) => void) | undefined;
  const onRetry = ({ status }: { readonly status: number | undefined }) => {
    reportWait ??= showWait(title, ended.promise, () => cancellation.abort());
    reportWait(status === 423 ? l10n.t('waiting for another operation (423)') : l10n.t('retrying'));
  };
  try {
    return await window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, () =>
      call({ signal: cancellation.signal, onRetry }),
    );
  } finally {
    ended.resolve();
  }
}

function showWait(title: string, ended: Promise<void>, cancel: () => void): (message: string) => void {
  let report: (message: string) => void = () => undefined;
  const options = { location: ProgressLocation.Notification, title, cancellable: true };
  void window.withProgress(options, (progress, token) => {
    report = (message) => progress.report({ message });
    token.onCancellationRequested(cancel);
    return ended;
  });
  return (message) => report(message);
}

const countConnections = async (
  computeActions: CommandContext['computeActions'],
  nodes: readonly ComputeIds[],
): Promise<OpenConnections> =>
  await window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, async () => {
    const counts = await Promise.all(nodes.map((node) => computeActions.countOpenConnections(node)));
    const active = counts.filter((count) => count !== 'idle');
    if (active.length === 0) return 'idle';
    return active.reduce((sum, count) =>
      sum === undefined || count === undefined ? undefined : sum + count,
    );
  });

/** Returns the id of the row below the one with this id, or else of the row above it. */
export function neighborId<Id>(rows: readonly { readonly id: Id }[], id: Id): Id | undefined {
  const index = rows.findIndex((row) => row.id === id);
  return (rows[index + 1] ?? rows[index - 1])?.id;
}

/** Selects the changed row. Never rejects, because the change was made even if the list couldn't be reloaded. */
export async function revealRow(
  { computesView, log }: Pick<CommandContext, 'computesView' | 'log'>,
  resource: ResourceRef,
): Promise<void> {
  try {
    await computesView.reveal(resource);
  } catch (error) {
    log.error('Revealing a row', error);
  }
}
