/** Progress of one call: quietly in the view, and as a notification that can be cancelled once the call has to wait. */
import { l10n, ProgressLocation, window } from 'vscode';
import type { CallOptions } from '../../../api/client.ts';

export async function withProgress<T>(title: string, call: (options: CallOptions) => Promise<T>): Promise<T> {
  const given = new AbortController();
  const ended = Promise.withResolvers<void>();
  let waiting: ((words: string) => void) | undefined;
  const onWait = ({ status }: { readonly status: number | undefined }) => {
    waiting ??= showWait(title, ended.promise, () => given.abort());
    waiting(status === 423 ? l10n.t('waiting for another operation (423)') : l10n.t('trying again'));
  };
  try {
    return await window.withProgress({ location: { viewId: 'hostedPostgres.computes' } }, () =>
      call({ signal: given.signal, onWait }),
    );
  } finally {
    ended.resolve();
  }
}

function showWait(title: string, ended: Promise<void>, cancel: () => void): (words: string) => void {
  let report: (words: string) => void = () => undefined;
  const options = { location: ProgressLocation.Notification, title, cancellable: true };
  void window.withProgress(options, (progress, token) => {
    report = (message) => progress.report({ message });
    token.onCancellationRequested(cancel);
    return ended;
  });
  return (words) => report(words);
}
