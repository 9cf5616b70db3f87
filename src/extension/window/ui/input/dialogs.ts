/** Loads what a question needs, and shows or copies a result. */
import { env, l10n, ProgressLocation } from 'vscode';
import { isPermanentRejection } from '../../../../api/transport/errors.ts';
import { announce } from '../announce.ts';
import { window } from '../window.ts';

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

/** Says that an action can't be undone. @param detail what is lost */
export const lossText = (detail: string): string => l10n.t("This can't be undone. {0}", detail);

/**
 * Asks a modal question about what can't be undone. VS Code focuses the first button and adds Cancel as the last one, so the first
 * one changes nothing.
 * @returns whether the user chose the action
 */
export async function askAboutLoss(question: string, detail: string, action: string): Promise<boolean> {
  const isChosen = (await window.ask(question, lossText(detail), l10n.t('Keep As It Is'), action)) === action;
  // Two buttons change nothing, and Enter presses one of them.
  if (!isChosen) announce(l10n.t('Nothing was changed'), 'info');
  return isChosen;
}

/** Shows a secret that the service doesn't return again. The dialog is modal, so that the user can't miss it. */
export async function showSecret(
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

/** Shows progress as a notification with a Cancel button, which aborts the signal. */
export async function withCancel<T>(
  title: string,
  task: (options: { readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const location = ProgressLocation.Notification;
  return await window.withProgress({ location, title, cancellable: true }, async (_progress, token) => {
    const controller = new AbortController();
    const listener = token.onCancellationRequested(() => controller.abort());
    return task({ signal: controller.signal }).finally(() => listener.dispose());
  });
}
