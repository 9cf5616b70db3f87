/**
 * Changes text files without an editor, because VS Code's Local History keeps a copy of every file that an editor saves, and
 * other users can read the copy.
 */
import path from 'node:path';
import { FileSystemError, l10n, workspace, type Uri } from 'vscode';
import { changeFile } from '../../../base/changeFile.ts';
import { readUserFile } from '../../../base/files.ts';
import { replaceFile } from '../../../base/replaceFile.ts';
import { decodeText } from '../dotEnv.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import { fileProblemText } from '../../window/ui/fileProblemText.ts';

/** A change of a file that can be undone. */
export interface FileChange {
  readonly uri: Uri;
  /** Undefined if the file was created. */
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array;
}

/**
 * @param uri the URI with links resolved
 * @param change returns the new text; undefined to leave the file. Called again if another program writes to the file
 * @param mode the mode of a new file
 * @returns undefined if the file was left
 * @throws {Error} if it isn't UTF-8 or the workspace is untrusted
 */
export async function changeTextFile(
  uri: Uri,
  change: (text: string) => string | undefined,
  mode?: number,
): Promise<FileChange | undefined> {
  requireTrust();
  const changeBytes = (before: Uint8Array | undefined) => {
    const after = change(decodeFile(uri, before));
    return after === undefined ? undefined : Buffer.from(after);
  };
  const before = await readBytes(uri);
  if (uri.scheme === 'file') {
    const contents = await changeFile(uri.fsPath, changeBytes, mode);
    return contents && { uri, ...contents };
  }
  const after = changeBytes(before);
  if (after !== undefined) await workspace.fs.writeFile(uri, after);
  return after && { uri, before, after };
}

/** @throws {Error} if a file has changed since; then nothing is undone */
export async function undoChanges(changes: readonly FileChange[]): Promise<void> {
  for (const { uri, after } of changes) {
    const current = await readBytes(uri);
    if (current === undefined || !Buffer.from(current).equals(after) || unsavedDocuments([uri]).length > 0)
      throw new Error(l10n.t('{0} was changed in the meantime.', displayPath(uri)));
  }
  // The order is reversed, so that a file with a password is restored before the rule that keeps it out of git.
  for (const { uri, before } of changes.toReversed()) {
    if (before === undefined) await workspace.fs.delete(uri);
    else if (uri.scheme === 'file') await replaceFile(uri.fsPath, before);
    else await workspace.fs.writeFile(uri, before);
  }
}

/** Returns the open documents of these files that have unsaved changes. */
export const unsavedDocuments = (uris: readonly Uri[]) => {
  const texts = new Set(uris.map(String));
  return workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && texts.has(uri.toString()));
};

export const displayPath = (uri: Uri): string => workspace.asRelativePath(uri, false);

function decodeFile(uri: Uri, bytes: Uint8Array | undefined): string {
  const text = bytes === undefined ? '' : decodeText(bytes);
  if (text === undefined) throw new Error(l10n.t("{0} isn't UTF-8 text.", displayPath(uri)));
  return text;
}

/** Returns an empty text if the file doesn't exist. @throws {Error} with the reason, if it can't be used */
export const readText = async (uri: Uri): Promise<string> => decodeFile(uri, await readBytes(uri));

/** @throws {Error} with the reason, if the file can't be used */
async function readBytes(uri: Uri): Promise<Uint8Array | undefined> {
  if (uri.scheme === 'file') {
    const { bytes, problem } = await readUserFile(uri.fsPath, [path.dirname(uri.fsPath)]);
    if (problem !== undefined) throw new Error(fileProblemText(problem, displayPath(uri)));
    return bytes;
  }
  try {
    return await workspace.fs.readFile(uri);
  } catch (error) {
    if (error instanceof FileSystemError && error.code === 'FileNotFound') return undefined;
    throw error;
  }
}
