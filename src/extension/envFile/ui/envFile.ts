/** Writes a connection string to an env file that git should ignore, and offers to undo it. */
import path from 'node:path';
import { l10n, Uri } from 'vscode';
import {
  appendLine,
  applyReplacement,
  getVariable,
  keepFormerValue,
  setVariables,
  type VariableChange,
} from '../dotEnv.ts';
import { readIgnoreState, type IgnoreState } from '../gitIgnored.ts';
import type { Log } from '../../window/ui/log.ts';
import { runOrShowFailure } from '../../account/ui/notify.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { window } from '../../window/ui/window.ts';
import {
  changeTextFile,
  displayPath,
  readText,
  undoChanges,
  unsavedDocuments,
  type FileChange,
} from './fileChange.ts';
import type { FolderEnv } from './folderEnv.ts';
import { runGit } from '../../window/ui/git.ts';
import { resolveWorkspaceFile } from './realFile.ts';

/** The mode of a file that only the user may read. */
const PRIVATE_MODE = 0o600;

/**
 * @param value a secret
 * @param related variables that follow it
 * @returns undefined if the user canceled
 */
export type WriteEnvVariable = (
  value: string,
  related?: readonly VariableChange[],
) => Promise<readonly FileChange[] | undefined>;

/**
 * Asks all questions before the file is written: what to do if git doesn't ignore it, and whether to save it.
 * @param database what the connection string points to, such as `main (shop)`
 * @param isOwn whether a value was written by this extension. Any other stays in the file as a comment
 * @returns undefined if the user canceled
 * @throws {Error} for example for a link out of the workspace
 */
export async function prepareEnvWrite(
  { uri, file, name }: Pick<FolderEnv, 'uri' | 'file' | 'name'>,
  database: string,
  isOwn: (value: string) => boolean,
): Promise<WriteEnvVariable | undefined> {
  requireTrust();
  const target = await readEnvFile(uri);
  const protection = await askForProtection(target, file, database);
  if (protection === undefined) return undefined;
  const ignoreFile = protection === 'ignore' ? target.ignoreFile : undefined;
  if (!(await saveUnsaved([uri, target.uri, ...(ignoreFile === undefined ? [] : [ignoreFile])], database)))
    return undefined;
  return async (value, related = []) => {
    // The file may have been replaced during the questions.
    if ((await readEnvFile(uri)).path !== target.path) throw changedFileError(file);
    const changes = [{ name, after: value }, ...related];
    const isAllowed = await confirmRequoting(target.uri, file, name, changes);
    if (isAllowed === undefined) return undefined;
    const rule = path.posix.basename(uri.path);
    const ignored =
      ignoreFile &&
      (await changeTextFile(ignoreFile, (text) => applyReplacement(text, () => appendLine(text, rule))));
    const change = (text: string) => {
      const changed = setVariables(text, changes);
      if (changed === undefined || (changed.isRequoted && !isAllowed)) throw changedFileError(file);
      const former = getVariable(text, name) ?? '';
      return former === '' || isOwn(former) ? changed.text : keepFormerValue(changed.text, text, name);
    };
    const written = await changeTextFile(target.uri, change, PRIVATE_MODE);
    return [ignored, written].filter((each) => each !== undefined);
  };
}

const changedFileError = (file: string) => new Error(l10n.t('{0} was changed in the meantime.', file));

/** Asks before a value gets other quotes. @returns whether other quotes are allowed; undefined if the user canceled */
async function confirmRequoting(
  uri: Uri,
  file: string,
  name: string,
  changes: readonly VariableChange[],
): Promise<boolean | undefined> {
  if (setVariables(await readText(uri), changes)?.isRequoted !== true) return false;
  const replace = l10n.t('Replace Value');
  const question = l10n.t('Replace the whole value of {0} in {1}?', name, file);
  const detail = l10n.t(
    'Not all programs read this value alike, because it has several parts or no quotes. The new value gets quotes.',
  );
  return (await window.ask(question, detail, replace)) === replace ? true : undefined;
}

/** The file to write. */
interface EnvFile {
  /** The target, if the path is a link. */
  readonly uri: Uri;
  readonly isLink: boolean;
  /** The path with links resolved; undefined in a virtual file system. */
  readonly path: string | undefined;
  readonly ignored: IgnoreState;
  /** The `.gitignore` in which a rule would make git ignore the file. */
  readonly ignoreFile: Uri | undefined;
}

/** @throws {Error} for example for a link out of the workspace */
async function readEnvFile(file: Uri): Promise<EnvFile> {
  const ignoreFile = Uri.joinPath(file, '..', '.gitignore');
  if (file.scheme !== 'file')
    return { uri: file, isLink: false, path: undefined, ignored: 'unknown', ignoreFile };
  const { path, isLink } = await resolveWorkspaceFile(file.fsPath);
  // Git doesn't read rules from a link.
  const hasRules = await resolveWorkspaceFile(ignoreFile.fsPath).then(
    (rules) => !rules.isLink,
    () => false,
  );
  return {
    uri: isLink ? Uri.file(path) : file,
    isLink,
    path,
    ignored: await readIgnoreState(runGit, path),
    ignoreFile: hasRules && !isLink ? ignoreFile : undefined,
  };
}

/** Asks before writing a file that git doesn't ignore. @returns undefined if the user canceled */
async function askForProtection(
  target: EnvFile,
  file: string,
  database: string,
): Promise<'ignore' | 'none' | undefined> {
  const { ignored, isLink, ignoreFile } = target;
  if (ignored === 'ignored' || ignored === 'outside') return 'none';
  const anyway = l10n.t('Write Anyway');
  const ignore = l10n.t('Add to .gitignore and Write');
  const warning = l10n.t(
    'If you commit this file, everyone with access to the repository can read the password.',
  );
  const detail = isLink ? `${l10n.t('{0} is a link to this file.', file)} ${warning}` : warning;
  const buttons = ignored === 'tracked' || ignoreFile === undefined ? [anyway] : [ignore, anyway];
  const question = protectionQuestion(ignored, sanitize(displayPath(target.uri)), database);
  const chosen = await window.ask(question, detail, ...buttons);
  if (chosen === undefined) return undefined;
  return chosen === ignore ? 'ignore' : 'none';
}

function protectionQuestion(
  ignored: 'notIgnored' | 'tracked' | 'unknown',
  name: string,
  database: string,
): string {
  switch (ignored) {
    case 'notIgnored':
      return l10n.t("Git doesn't ignore {0}. Write the connection string of {1} to it?", name, database);
    case 'tracked':
      return l10n.t(
        '{0} is part of the repository. Write the connection string of {1} to it?',
        name,
        database,
      );
    case 'unknown':
      return l10n.t(
        "Couldn't check whether Git ignores {0}. Write the connection string of {1} to it?",
        name,
        database,
      );
    default:
      return ignored satisfies never;
  }
}

/** Saves unsaved changes, which would conflict with the change on disk. @returns false if the user canceled */
async function saveUnsaved(uris: readonly Uri[], database: string): Promise<boolean> {
  const documents = unsavedDocuments(uris);
  const [first] = documents;
  if (first === undefined) return true;
  const name = sanitize(displayPath(first.uri));
  const save = l10n.t('Save and Write');
  const question = l10n.t(
    '{0} has unsaved changes. Save it and write the connection string of {1}?',
    name,
    database,
  );
  const detail = l10n.t(
    'The connection string is written directly to disk, so that Local History keeps no copy of the password.',
  );
  if ((await window.ask(question, detail, save)) !== save) return false;
  for (const document of documents)
    if (!(await document.save())) throw new Error(l10n.t("Couldn't save {0}.", name));
  return true;
}

/** Returns a sentence about variables that still point to the previous branch, after another one; empty if there are none. */
export const leftVariablesText = (names: readonly string[]): string =>
  names.length === 0 ? '' : `. ${l10n.t('Still on the previous branch: {0}', names.join(', '))}`;

/**
 * Announces what was written, with a button that undoes it. Resolves after the user has answered.
 * @param onUndone called after the user has undone it
 */
export async function offerUndo(
  log: Log,
  message: string,
  changes: readonly FileChange[],
  onUndone = () => {},
): Promise<void> {
  const undo = l10n.t('Undo');
  if ((await window.showInformationMessage(message, undo)) !== undo) return;
  await runOrShowFailure(log, l10n.t("Couldn't undo the change"), () => undoChanges(changes).then(onUndone));
}
