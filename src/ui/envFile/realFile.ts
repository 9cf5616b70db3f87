/** Resolves links in a path of the workspace. They may lead to a tracked file or out of the workspace. */
import path from 'node:path';
import { l10n, workspace } from 'vscode';
import { resolveFile, type ResolvedFile } from '../../base/files.ts';

const workspacePaths = () => (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);

/** @throws {Error} for a broken link, a link out of the workspace, and anything but a file */
export async function realFile(file: string, folders = workspacePaths()): Promise<ResolvedFile> {
  const resolved = await resolveFile(file, folders);
  const name = path.basename(file);
  switch (resolved.problem) {
    case 'brokenLink':
      throw new Error(l10n.t("{0} is a link to a file that doesn't exist.", name));
    case 'outside':
      throw new Error(l10n.t("{0} is a link to {1}, which isn't in the workspace.", name, resolved.path));
    case 'noFile':
      throw new Error(l10n.t("{0} isn't a file.", name));
    case undefined:
      return resolved;
    default:
      return resolved.problem satisfies never;
  }
}
