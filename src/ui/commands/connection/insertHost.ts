import { l10n, window } from 'vscode';
import type { Command } from '../context.ts';
import { pickHost } from './host.ts';

/** Inserts a host at every cursor of the editor, or replaces the selections. */
export const insertHost: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't insert the host");
  const editor = window.activeTextEditor;
  if (editor === undefined) throw new Error(l10n.t('No editor is open.'));
  const host = await pickHost(context, l10n.t('Insert Host'), argument);
  if (host === undefined) return;
  const isInserted = await editor.edit((edit) => {
    for (const selection of editor.selections) edit.replace(selection, host);
  });
  if (!isInserted) throw new Error(l10n.t("The document can't be edited."));
};
