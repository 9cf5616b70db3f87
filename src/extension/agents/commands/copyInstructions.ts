/** Copy Agent Instructions: copies the text of the skill in package.json, for agents that read AGENTS.md and no skills. */
import { l10n, Uri, workspace } from 'vscode';
import type { Command } from '../../commandSupport/context.ts';
import { copyText } from '../../window/ui/input/dialogs.ts';

export const copyInstructions: Command = async ({ extensionUri }, _argument, run) => {
  run.failureMessage = l10n.t("Couldn't copy the instructions");
  const skill = Uri.joinPath(extensionUri, 'media', 'skills', 'hosted-postgres', 'SKILL.md');
  const text = new TextDecoder().decode(await workspace.fs.readFile(skill));
  const [, , body = ''] = text.split(/^---\r?\n/m);
  await copyText(body.trimStart(), l10n.t('Copied. Paste it into AGENTS.md or CLAUDE.md.'));
};
