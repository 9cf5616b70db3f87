/** Progress, and showing or copying a result. */
import { env, l10n, ProgressLocation } from 'vscode';
import { isPermanentRejection } from '../../../api/errors.ts';
import type { CallOptions } from '../../../api/client.ts';
import { announce } from '../../notifications/announce.ts';
import { window } from '../../window.ts';

/** Shows progress in the view. Once the call has to wait and retry, a notification offers to cancel it. */
export async function withProgress<T>(title: string, call: (options: CallOptions) => Promise<T>): Promise<T> {
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

/** Shows progress in the status bar. @returns undefined if the service would always reject the call. @throws {ApiError} */
export async function loadIfOffered<T>(
  title: string,
  load: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await window.withProgress({ location: ProgressLocation.Window, title }, load);
  } catch (error) {
    if (isPermanentRejection(error)) return undefined;
    throw error;
  }
}

/** Shows a secret that the service doesn't return again. Modal, so that the user can't miss it. */
export async function showOnce(
  title: string,
  detail: string,
  copy: { readonly button: string; readonly secret: string; readonly done: string },
): Promise<void> {
  if (await window.showResult(title, detail, copy.button)) await copyText(copy.secret, copy.done);
}

export async function copyText(text: string, announcement: string): Promise<void> {
  await env.clipboard.writeText(text);
  announce(announcement);
}
