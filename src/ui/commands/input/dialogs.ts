/** The confirmation before a change, its progress, and copying a result. */
import { env, l10n, ProgressLocation } from 'vscode';
import type { CallOptions } from '../../../api/client.ts';
import { announce } from '../../notifications/announce.ts';
import { window } from '../../window.ts';

/** Modal. @param detail the consequences. @param button a verb */
export async function confirm(question: string, detail: string, button: string): Promise<boolean> {
  return (await window.showWarningMessage(question, { modal: true, detail }, button)) === button;
}

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

export async function copyText(text: string, announcement: string): Promise<void> {
  await env.clipboard.writeText(text);
  announce(announcement);
}
