import { l10n, window } from 'vscode';
import type { Command } from '../context.ts';
import { askForHost } from './host.ts';

/** Puts a host at every cursor of the editor, in the place of what is selected. */
export const insertHost: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not insert the host');
  const editor = window.activeTextEditor;
  if (editor === undefined) throw new Error(l10n.t('No editor is open.'));
  const host = await askForHost(context, l10n.t('Insert Host'), argument);
  if (host === undefined) return;
  const isInserted = await editor.edit((edit) => {
    for (const selection of editor.selections) edit.replace(selection, host);
  });
  if (!isInserted) throw new Error(l10n.t('The document cannot be changed.'));
};
