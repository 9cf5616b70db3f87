/** Write DATABASE_URL to .env: sets one variable, in a file that git should ignore, and offers to undo it. */
import { l10n, Uri, window, workspace, type WorkspaceFolder } from 'vscode';
import { appendLine, setVariable } from '../../../model/connection/dotEnv.ts';
import { showFailure } from '../../notifications/notify.ts';
import { sanitize } from '../../text/sanitize.ts';
import { askForUri } from './connectionString.ts';
import type { Command, CommandContext } from '../context.ts';
import { changeFile, nameOf, undoChanges, unsaved, type FileChange } from './fileChange.ts';
import { BACK } from '../input/multiStepInput.ts';
import { gitIgnored, type Ignored } from './gitIgnored.ts';
import { computeOf } from './host.ts';
import { pickOne } from '../input/quickInput.ts';
import { realFile } from './realFile.ts';
import { requireTrust } from '../input/trust.ts';

const VARIABLE = 'DATABASE_URL';
const FILE = '.env';
/** The password is for the user alone. */
const PRIVATE = 0o600;

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
  const target = await targetOf(file);
  const protection = await askForProtection(target);
  if (protection === undefined) return;
  const ignoreFile = protection === 'ignore' ? target.ignoreFile : undefined;
  if (!(await saveFirst([file, target.uri, ...(ignoreFile === undefined ? [] : [ignoreFile])]))) return;
  // The questions took time: the answers are about this file and no other.
  if ((await targetOf(file)).path !== target.path) throw new Error(l10n.t('{0} has changed since.', FILE));
  const changes: FileChange[] = [];
  if (ignoreFile !== undefined) changes.push(await changeFile(ignoreFile, (text) => appendLine(text, FILE)));
  changes.push(await changeFile(target.uri, (text) => setVariable(text, VARIABLE, made.uri), PRIVATE));
  await window.showTextDocument(target.uri);
  offerUndo(context, changes);
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

/** The file that is written to. */
interface Target {
  /** Where the path leads, if it is a link. */
  readonly uri: Uri;
  readonly isLink: boolean;
  /** Without any links; undefined in a virtual file system. */
  readonly path: string | undefined;
  readonly ignored: Ignored;
  /** Where a rule makes git ignore the file, if there can be one. */
  readonly ignoreFile: Uri | undefined;
}

/** @throws {Error} when it is a link out of the workspace, among others */
async function targetOf(file: Uri): Promise<Target> {
  const ignoreFile = Uri.joinPath(file, '..', '.gitignore');
  if (file.scheme !== 'file')
    return { uri: file, isLink: false, path: undefined, ignored: 'unknown', ignoreFile };
  const folders = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const { path, isLink, hasOtherNames } = await realFile(file.fsPath, folders);
  // Git reads no rules from a link.
  const hasRules = await realFile(ignoreFile.fsPath, folders).then(
    (rules) => !rules.isLink,
    () => false,
  );
  return {
    uri: isLink ? Uri.file(path) : file,
    isLink,
    path,
    ignored: hasOtherNames ? 'unknown' : await gitIgnored(path),
    ignoreFile: hasRules && !isLink && !hasOtherNames ? ignoreFile : undefined,
  };
}

/** @returns whether git is to ignore the file from now on; undefined when the user gave up */
async function askForProtection(target: Target): Promise<'ignore' | 'none' | undefined> {
  const { ignored, isLink, ignoreFile } = target;
  if (ignored === 'ignored' || ignored === 'outside') return 'none';
  const anyway = l10n.t('Write Anyway');
  const ignore = l10n.t('Ignore and Write');
  const warning = l10n.t(
    'With the next commit a password in it would go to everyone who has the repository.',
  );
  const detail = isLink ? `${l10n.t('{0} is a link to this file.', FILE)} ${warning}` : warning;
  const verbs = ignored === 'tracked' || ignoreFile === undefined ? [anyway] : [ignore, anyway];
  const question = questionOf(ignored, sanitize(nameOf(target.uri)));
  const chosen = await window.showWarningMessage(question, { modal: true, detail }, ...verbs);
  if (chosen === undefined) return undefined;
  return chosen === ignore ? 'ignore' : 'none';
}

function questionOf(ignored: 'notIgnored' | 'tracked' | 'unknown', name: string): string {
  switch (ignored) {
    case 'notIgnored':
      return l10n.t('Git does not ignore {0}. Write the connection string to it?', name);
    case 'tracked':
      return l10n.t('{0} is part of the repository. Write the connection string to it?', name);
    case 'unknown':
      return l10n.t('Git cannot say whether it ignores {0}. Write the connection string to it?', name);
    default:
      return ignored satisfies never;
  }
}

/** The file is changed on disk, where an editor's unsaved changes would be in conflict. @returns false when the user gave up */
async function saveFirst(uris: readonly Uri[]): Promise<boolean> {
  const documents = unsaved(uris);
  const [first] = documents;
  if (first === undefined) return true;
  const name = sanitize(nameOf(first.uri));
  const save = l10n.t('Save and Write');
  const question = l10n.t('{0} has unsaved changes. Save it and write the connection string?', name);
  const detail = l10n.t(
    'It is written to the file itself, so that Local History keeps no copy of the password.',
  );
  if ((await window.showWarningMessage(question, { modal: true, detail }, save)) !== save) return false;
  for (const document of documents)
    if (!(await document.save())) throw new Error(l10n.t('{0} could not be saved.', name));
  return true;
}

/** Not awaited: the command has ended by the time the user reads it. */
function offerUndo({ log }: CommandContext, changes: readonly FileChange[]): void {
  const undo = l10n.t('Undo');
  const tryUndo = () =>
    undoChanges(changes).catch((error: unknown) => {
      log.error('Undoing the change of a file', error);
      return showFailure(l10n.t('Could not undo it'), error, () => void tryUndo());
    });
  void window.showInformationMessage(l10n.t('Wrote {0} to {1}', VARIABLE, FILE), undo).then((chosen) => {
    if (chosen === undo) void tryUndo();
  });
}
