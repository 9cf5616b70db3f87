/** Write DATABASE_URL to .env: one edit that can be undone, of the one variable, in a file that git should ignore. */
import {
  l10n,
  Position,
  Range,
  Uri,
  window,
  workspace,
  WorkspaceEdit,
  type TextDocument,
  type WorkspaceFolder,
} from 'vscode';
import { appendLine, setVariable, type TextChange } from '../../model/dotEnv.ts';
import { announce } from '../notifications/announce.ts';
import { askForUri } from './connectionString.ts';
import type { Command } from './context.ts';
import { BACK } from './flow.ts';
import { gitIgnored, type Ignored } from './gitIgnored.ts';
import { computeOf } from './host.ts';
import { pickOne } from './quickInput.ts';
import { requireTrust } from './trust.ts';

const VARIABLE = 'DATABASE_URL';
const FILE = '.env';

export const writeEnv: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not write {0}', VARIABLE);
  requireTrust();
  const title = l10n.t('Write {0} to {1}', VARIABLE, FILE);
  const folder = await chooseFolder(title);
  if (folder === undefined) return;
  const compute = await computeOf(context, title, argument);
  if (compute === undefined) return;
  const file = Uri.joinPath(folder.uri, FILE);
  const made = await askForUri(context, { title, compute, scope: file });
  if (made === undefined) return;
  const protection = await askForProtection(file);
  if (protection === undefined) return;
  await write(file, made.uri, protection === 'ignore' ? Uri.joinPath(folder.uri, '.gitignore') : undefined);
  announce(l10n.t('{0} is in {1}', VARIABLE, FILE));
};

/** @returns undefined when the user gave up @throws {Error} when there is no folder */
async function chooseFolder(title: string): Promise<WorkspaceFolder | undefined> {
  const folders = workspace.workspaceFolders ?? [];
  const [first, second] = folders;
  if (first === undefined) throw new Error(l10n.t('No folder is open to write it to.'));
  if (second === undefined) return first;
  const items = folders.map((folder) => ({
    label: folder.name,
    description: workspace.asRelativePath(folder.uri, false),
    folder,
  }));
  const page = { title, step: 1, steps: 1, canGoBack: false };
  const picked = await pickOne(page, { placeholder: l10n.t('Folder'), items });
  return picked === BACK ? undefined : picked?.folder;
}

/** @returns whether git is to ignore the file from now on; undefined when the user gave up */
async function askForProtection(file: Uri): Promise<'ignore' | 'none' | undefined> {
  const ignored: Ignored = file.scheme === 'file' ? await gitIgnored(file.fsPath) : 'unknown';
  if (ignored === 'ignored' || ignored === 'outside') return 'none';
  const anyway = l10n.t('Write Anyway');
  const ignore = l10n.t('Ignore and Write');
  const { question, detail } = warning(ignored);
  const verbs = ignored === 'tracked' ? [anyway] : [ignore, anyway];
  const chosen = await window.showWarningMessage(question, { modal: true, detail }, ...verbs);
  if (chosen === undefined) return undefined;
  return chosen === ignore ? 'ignore' : 'none';
}

function warning(ignored: 'notIgnored' | 'tracked' | 'unknown') {
  const detail = l10n.t('With the next commit a password in it would go to everyone who has the repository.');
  switch (ignored) {
    case 'notIgnored':
      return {
        question: l10n.t('Git does not ignore {0}. Write the connection string to it?', FILE),
        detail,
      };
    case 'tracked':
      return {
        question: l10n.t('{0} is part of the repository. Write the connection string to it?', FILE),
        detail,
      };
    case 'unknown':
      return {
        question: l10n.t(
          'Git cannot be asked whether it ignores {0}. Write the connection string to it?',
          FILE,
        ),
        detail,
      };
    default:
      return ignored satisfies never;
  }
}

/** Saved, unless it had changes of the user's that were not; undoing is theirs as well. */
async function write(file: Uri, value: string, ignoreFile: Uri | undefined): Promise<void> {
  const edit = new WorkspaceEdit();
  const saved = [];
  if (await change(edit, file, (text) => setVariable(text, VARIABLE, value))) saved.push(file);
  if (ignoreFile !== undefined && (await change(edit, ignoreFile, (text) => appendLine(text, FILE))))
    saved.push(ignoreFile);
  if (!(await workspace.applyEdit(edit))) throw new Error(l10n.t('The file cannot be changed.'));
  for (const uri of saved) await (await workspace.openTextDocument(uri)).save();
  await window.showTextDocument(file);
}

/** Adds the change of a file, which is made if it does not exist. @returns whether it is as on disk otherwise */
async function change(edit: WorkspaceEdit, uri: Uri, make: (text: string) => TextChange): Promise<boolean> {
  const document = await openExisting(uri);
  const { start, end, text } = make(document?.getText() ?? '');
  if (document === undefined) {
    edit.createFile(uri, { ignoreIfExists: true });
    edit.insert(uri, new Position(0, 0), text);
    return true;
  }
  edit.replace(uri, new Range(document.positionAt(start), document.positionAt(end)), text);
  return !document.isDirty;
}

async function openExisting(uri: Uri): Promise<TextDocument | undefined> {
  const isThere = await workspace.fs.stat(uri).then(
    () => true,
    () => false, // Whatever else is wrong with it, the edit will say.
  );
  return isThere ? await workspace.openTextDocument(uri) : undefined;
}
