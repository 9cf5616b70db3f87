/** What is rehearsed: a SQL file, a folder of migrations, or a command, such as that of the migration tool that the project uses. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { l10n, ThemeIcon, Uri, window as editors, workspace } from 'vscode';
import { sanitize } from '../../../base/sanitize.ts';
import { findProjectTools } from '../../../migrations/shownTools.ts';
import { saveAndFindFile } from './runSqlFile.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';

export type ChosenMigration =
  | { readonly kind: 'file' | 'folder'; readonly name: string; readonly uri: Uri }
  /** @property uri the folder in which the command runs */
  | { readonly kind: 'command'; readonly name: string; readonly uri: Uri };

/** @param argument the file or folder of a menu. @returns undefined if the user canceled */
export async function chooseMigration(
  title: string,
  argument: unknown,
): Promise<ChosenMigration | undefined> {
  const chosen = argument instanceof Uri ? await migrationAt(argument) : await askForMigration(title);
  if (chosen?.kind !== 'file') return chosen;
  const saved = await saveAndFindFile(chosen.uri);
  return saved && fileOf(saved);
}

const nameOf = ({ path: name }: Uri): string => path.posix.basename(name);

const fileOf = (uri: Uri): ChosenMigration => ({ kind: 'file', name: nameOf(uri), uri });

async function migrationAt(uri: Uri): Promise<ChosenMigration> {
  const isFolder = uri.scheme === 'file' && (await stat(uri.fsPath)).isDirectory();
  return isFolder ? { kind: 'folder', name: nameOf(uri), uri } : fileOf(uri);
}

async function askForMigration(title: string): Promise<ChosenMigration | undefined> {
  const open = editors.activeTextEditor?.document;
  const file =
    open?.languageId === 'sql' && ['file', 'untitled'].includes(open.uri.scheme) ? open.uri : undefined;
  const folder = (file && workspace.getWorkspaceFolder(file)) ?? workspace.workspaceFolders?.[0];
  const typedCommand = (command: string): ChosenMigration | undefined =>
    folder && { kind: 'command', name: command, uri: folder.uri };
  const items = async () => {
    const tools = folder === undefined ? [] : await findProjectTools(folder.uri.fsPath);
    return [
      ...(file === undefined ? [] : [fileItem(fileOf(file))]),
      ...tools.map(({ name, command }) => commandItem(command, name, typedCommand(command))),
    ];
  };
  const typed = (text: string) =>
    text === '' || folder === undefined
      ? undefined
      : commandItem(text, l10n.t('Command'), typedCommand(text));
  const placeholder =
    folder === undefined
      ? l10n.t('Open a folder to rehearse a command')
      : l10n.t('Select what to rehearse, or enter a command that migrates');
  return await singleStep(title, pickOne({ placeholder, items, typed }));
}

const fileItem = (migration: ChosenMigration): Choice<ChosenMigration> => ({
  label: sanitize(migration.name),
  iconPath: new ThemeIcon('file-code'),
  value: migration,
});

const commandItem = (
  command: string,
  description: string,
  value: ChosenMigration | undefined,
): Choice<ChosenMigration> => ({
  label: sanitize(command),
  iconPath: new ThemeIcon('terminal'),
  description,
  value,
});
