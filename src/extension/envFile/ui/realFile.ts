/** Resolves links in a path of the workspace. They may lead to a tracked file or out of the workspace. */
import path from 'node:path';
import { l10n } from 'vscode';
import { resolveFile, type ResolvedFile } from '../../../base/files.ts';
import { fileProblemText } from '../../window/ui/fileProblemText.ts';
import { workspacePaths } from '../../window/ui/workspace.ts';

/** @throws {Error} for a broken link, a link out of the workspace, and anything but a file */
export async function resolveWorkspaceFile(file: string, folders = workspacePaths()): Promise<ResolvedFile> {
  const resolved = await resolveFile(file, folders);
  const name = path.basename(file);
  if (resolved.problem === 'outside')
    throw new Error(l10n.t("{0} is a link to {1}, which isn't in the workspace.", name, resolved.path));
  if (resolved.problem !== undefined) throw new Error(fileProblemText(resolved.problem, name));
  return resolved;
}
