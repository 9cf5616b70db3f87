/**
 * Changes text files without an editor: of every file that an editor saves, VS Code's Local History keeps a copy that
 * other users can read.
 */
import { constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { FileSystemError, l10n, workspace, type Uri } from 'vscode';
import type { TextChange } from '../../../model/connection/dotEnv.ts';
import { requireTrust } from '../input/trust.ts';

/** What was done to a file, so that it can be undone. */
export interface FileChange {
  readonly uri: Uri;
  /** Undefined when the file was created. */
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array;
}

/** @param uri without links @param mode of a new file @throws {Error} in an untrusted workspace, and for what is not UTF-8 text */
export async function changeFile(
  uri: Uri,
  make: (text: string) => TextChange,
  mode = 0o666,
): Promise<FileChange> {
  requireTrust();
  const before = await read(uri);
  const after = Buffer.from(changed(uri, before, make));
  await write(uri, after, before === undefined ? { mode } : undefined);
  return { uri, before, after };
}

/** Undoes all of the changes, or none. @throws {Error} when a file has changed since */
export async function undoChanges(changes: readonly FileChange[]): Promise<void> {
  for (const { uri, after } of changes) {
    const now = await read(uri);
    if (now === undefined || !Buffer.from(now).equals(after) || unsaved([uri]).length > 0)
      throw new Error(l10n.t('{0} has changed since.', nameOf(uri)));
  }
  for (const { uri, before } of changes) {
    if (before === undefined) await workspace.fs.delete(uri);
    else await write(uri, before, undefined);
  }
}

/** Documents in editors with changes that are not on disk. */
export const unsaved = (uris: readonly Uri[]) => {
  const wanted = new Set(uris.map(String));
  return workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && wanted.has(uri.toString()));
};

export const nameOf = (uri: Uri): string => workspace.asRelativePath(uri, false);

function changed(uri: Uri, before: Uint8Array | undefined, make: (text: string) => TextChange): string {
  const all = before === undefined ? '' : decode(uri, before);
  const mark = all.startsWith('\ufeff') ? '\ufeff' : '';
  const text = all.slice(mark.length);
  const change = make(text);
  return `${mark}${text.slice(0, change.start)}${change.text}${text.slice(change.end)}`;
}

function decode(uri: Uri, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(l10n.t('{0} is not UTF-8 text.', nameOf(uri)));
  }
}

async function read(uri: Uri): Promise<Uint8Array | undefined> {
  try {
    return await workspace.fs.readFile(uri);
  } catch (error) {
    if (error instanceof FileSystemError && error.code === 'FileNotFound') return undefined;
    throw error;
  }
}

/** A link that has taken the place of the file is an error, and so is a file where none was. */
async function write(uri: Uri, bytes: Uint8Array, created: { readonly mode: number } | undefined) {
  if (uri.scheme !== 'file') return workspace.fs.writeFile(uri, bytes);
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
  const flag = O_WRONLY | (created === undefined ? O_TRUNC : O_CREAT | O_EXCL) | (O_NOFOLLOW ?? 0);
  await writeFile(uri.fsPath, bytes, { flag, ...created });
}
