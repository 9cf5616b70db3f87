/** Write DATABASE_URL to .env: sets the variable in a file that git should ignore, and offers to undo it. */
import { l10n, Uri, window as vscodeWindow, workspace, type WorkspaceFolder } from 'vscode';
import { appendLine, setVariable } from '../../../model/connection/dotEnv.ts';
import { showFailure } from '../../notifications/notify.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Command, CommandContext } from '../context.ts';
import { singleStep } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';
import { requireTrust } from '../input/trust.ts';
import { askForUri } from './connectionString.ts';
import { changeFile, displayPath, undoChanges, unsaved, type WrittenFile } from './fileChange.ts';
import { gitIgnored, type Ignored } from './gitIgnored.ts';
import { pickRecord } from './host.ts';
import { realFile } from './realFile.ts';
import { window } from '../../window.ts';

const VARIABLE = 'DATABASE_URL';
const FILE = '.env';
/** The mode of a file that only the user may read. */
const PRIVATE_MODE = 0o600;

export const writeEnv: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't write {0}", VARIABLE);
  requireTrust();
  const title = l10n.t('Write {0} to {1}', VARIABLE, FILE);
  const folder = await pickFolder(title);
  if (folder === undefined) return;
  const compute = await pickRecord(context, title, argument);
  if (compute === undefined) return;
  const file = Uri.joinPath(folder.uri, FILE);
  const result = await askForUri(context, { title, compute, scope: file });
  if (result === undefined) return;
  const target = await envFileOf(file);
  const protection = await askForProtection(target);
  if (protection === undefined) return;
  const ignoreFile = protection === 'ignore' ? target.ignoreFile : undefined;
  if (!(await saveFirst([file, target.uri, ...(ignoreFile === undefined ? [] : [ignoreFile])]))) return;
  // The file may have been replaced during the questions.
  if ((await envFileOf(file)).path !== target.path)
    throw new Error(l10n.t('{0} was changed in the meantime.', FILE));
  const changes: WrittenFile[] = [];
  if (ignoreFile !== undefined) changes.push(await changeFile(ignoreFile, (text) => appendLine(text, FILE)));
  changes.push(await changeFile(target.uri, (text) => setVariable(text, VARIABLE, result.uri), PRIVATE_MODE));
  await vscodeWindow.showTextDocument(target.uri);
  offerUndo(context, changes);
};

/** @returns undefined if the user canceled. @throws {Error} if no folder is open */
async function pickFolder(title: string): Promise<WorkspaceFolder | undefined> {
  const folders = workspace.workspaceFolders ?? [];
  const [first, second] = folders;
  if (first === undefined) throw new Error(l10n.t('No folder is open.'));
  if (second === undefined) return first;
  const items = folders.map((folder) => ({
    label: folder.name,
    description: workspace.asRelativePath(folder.uri, false),
    value: folder,
  }));
  const placeholder = l10n.t('Select a folder');
  return await singleStep(title, (page) => pickOne(page, { placeholder, items }));
}

/** The file to write. */
interface EnvFile {
  /** The target if the path is a link. */
  readonly uri: Uri;
  readonly isLink: boolean;
  /** Without links; undefined in a virtual file system. */
  readonly path: string | undefined;
  readonly ignored: Ignored;
  /** The file where a rule would make git ignore this file. */
  readonly ignoreFile: Uri | undefined;
}

/** @throws {Error} such as for a link out of the workspace */
async function envFileOf(file: Uri): Promise<EnvFile> {
  const ignoreFile = Uri.joinPath(file, '..', '.gitignore');
  if (file.scheme !== 'file')
    return { uri: file, isLink: false, path: undefined, ignored: 'unknown', ignoreFile };
  const folders = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const { path, isLink } = await realFile(file.fsPath, folders);
  // Git reads no rules from links.
  const hasRules = await realFile(ignoreFile.fsPath, folders).then(
    (rules) => !rules.isLink,
    () => false,
  );
  return {
    uri: isLink ? Uri.file(path) : file,
    isLink,
    path,
    ignored: await gitIgnored(path),
    ignoreFile: hasRules && !isLink ? ignoreFile : undefined,
  };
}

/** Asks before writing a file that git doesn't ignore. @returns undefined if the user canceled */
async function askForProtection(target: EnvFile): Promise<'ignore' | 'none' | undefined> {
  const { ignored, isLink, ignoreFile } = target;
  if (ignored === 'ignored' || ignored === 'outside') return 'none';
  const anyway = l10n.t('Write Anyway');
  const ignore = l10n.t('Add to .gitignore and Write');
  const warning = l10n.t(
    'If you commit this file, everyone with access to the repository can read the password.',
  );
  const detail = isLink ? `${l10n.t('{0} is a link to this file.', FILE)} ${warning}` : warning;
  const buttons = ignored === 'tracked' || ignoreFile === undefined ? [anyway] : [ignore, anyway];
  const question = questionOf(ignored, sanitize(displayPath(target.uri)));
  const chosen = await window.showWarningMessage(question, { modal: true, detail }, ...buttons);
  if (chosen === undefined) return undefined;
  return chosen === ignore ? 'ignore' : 'none';
}

function questionOf(ignored: 'notIgnored' | 'tracked' | 'unknown', name: string): string {
  switch (ignored) {
    case 'notIgnored':
      return l10n.t("Git doesn't ignore {0}. Write the connection string to it?", name);
    case 'tracked':
      return l10n.t('{0} is part of the repository. Write the connection string to it?', name);
    case 'unknown':
      return l10n.t("Couldn't check whether Git ignores {0}. Write the connection string to it?", name);
    default:
      return ignored satisfies never;
  }
}

/** Saves unsaved changes, which would conflict with the change on disk. @returns false if the user canceled */
async function saveFirst(uris: readonly Uri[]): Promise<boolean> {
  const documents = unsaved(uris);
  const [first] = documents;
  if (first === undefined) return true;
  const name = sanitize(displayPath(first.uri));
  const save = l10n.t('Save and Write');
  const question = l10n.t('{0} has unsaved changes. Save it and write the connection string?', name);
  const detail = l10n.t(
    'The connection string is written directly to disk, so that Local History keeps no copy of the password.',
  );
  if ((await window.showWarningMessage(question, { modal: true, detail }, save)) !== save) return false;
  for (const document of documents)
    if (!(await document.save())) throw new Error(l10n.t("Couldn't save {0}.", name));
  return true;
}

/** Doesn't wait for the user. */
function offerUndo({ log }: CommandContext, changes: readonly WrittenFile[]): void {
  const undo = l10n.t('Undo');
  const tryUndo = () =>
    undoChanges(changes).catch((error: unknown) => {
      log.error('Undoing the change of a file', error);
      return showFailure(l10n.t("Couldn't undo the change"), error, () => void tryUndo());
    });
  void window.showInformationMessage(l10n.t('Wrote {0} to {1}', VARIABLE, FILE), undo).then((chosen) => {
    if (chosen === undo) void tryUndo();
  });
}
