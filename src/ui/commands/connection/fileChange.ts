/**
 * Changes text files without an editor: VS Code's Local History keeps a copy of every file that an editor saves, which
 * other users can read.
 */
import { constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { FileSystemError, l10n, workspace, type Uri } from 'vscode';
import type { TextChange } from '../../../model/connection/dotEnv.ts';
import { requireTrust } from '../input/trust.ts';

/** For undo. */
export interface FileChange {
  readonly uri: Uri;
  /** Undefined if the file was created. */
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array;
}

/** @param uri without links. @param mode of a new file. @throws {Error} in an untrusted workspace, or if it isn't UTF-8 */
export async function changeFile(
  uri: Uri,
  change: (text: string) => TextChange,
  mode = 0o666,
): Promise<FileChange> {
  requireTrust();
  const before = await readText(uri);
  const after = Buffer.from(changed(uri, before, change));
  try {
    await write(uri, after, before === undefined ? { mode } : undefined);
  } catch (error) {
    // On a full disk, the file may be empty now.
    if (before !== undefined) await write(uri, before, undefined).catch(() => undefined);
    throw error;
  }
  return { uri, before, after };
}

/** Undoes all of the changes, or none. @throws {Error} if a file has changed since then */
export async function undoChanges(changes: readonly FileChange[]): Promise<void> {
  for (const { uri, after } of changes) {
    const now = await readText(uri);
    if (now === undefined || !Buffer.from(now).equals(after) || unsaved([uri]).length > 0)
      throw new Error(l10n.t('{0} was changed in the meantime.', displayPath(uri)));
  }
  for (const { uri, before } of changes) {
    if (before === undefined) await workspace.fs.delete(uri);
    else await write(uri, before, undefined);
  }
}

/** Open documents with unsaved changes. */
export const unsaved = (uris: readonly Uri[]) => {
  const wanted = new Set(uris.map(String));
  return workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && wanted.has(uri.toString()));
};

export const displayPath = (uri: Uri): string => workspace.asRelativePath(uri, false);

function changed(uri: Uri, before: Uint8Array | undefined, change: (text: string) => TextChange): string {
  const all = before === undefined ? '' : decode(uri, before);
  const mark = all.startsWith('\ufeff') ? '\ufeff' : '';
  const text = all.slice(mark.length);
  const { start, end, text: inserted } = change(text);
  return `${mark}${text.slice(0, start)}${inserted}${text.slice(end)}`;
}

function decode(uri: Uri, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(l10n.t("{0} isn't UTF-8 text.", displayPath(uri)));
  }
}

async function readText(uri: Uri): Promise<Uint8Array | undefined> {
  try {
    return await workspace.fs.readFile(uri);
  } catch (error) {
    if (error instanceof FileSystemError && error.code === 'FileNotFound') return undefined;
    throw error;
  }
}

/** Fails if the file was replaced by a link, or if a new file already exists. */
async function write(uri: Uri, bytes: Uint8Array, created: { readonly mode: number } | undefined) {
  if (uri.scheme !== 'file') return workspace.fs.writeFile(uri, bytes);
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
  const flag = O_WRONLY | (created === undefined ? O_TRUNC : O_CREAT | O_EXCL) | (O_NOFOLLOW ?? 0);
  await writeFile(uri.fsPath, bytes, { flag, ...created });
}
