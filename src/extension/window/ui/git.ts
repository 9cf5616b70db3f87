import path from 'node:path';
import { extensions, workspace } from 'vscode';
import { createGitRunner } from '../../../base/git/runGit.ts';

/** The part of VS Code's Git extension that has the path of git. */
interface GitExtension {
  getAPI(version: 1): { readonly git: { readonly path: string } };
}

export const runGit = createGitRunner(gitProgram);

/** Returns the path of git, without activating the Git extension, because that would search for repositories. */
function gitProgram(): string {
  const setting = workspace.getConfiguration('git').get<unknown>('path');
  const configured: unknown = Array.isArray(setting) ? setting[0] : setting;
  if (typeof configured === 'string' && path.isAbsolute(configured)) return configured;
  const extension = extensions.getExtension<GitExtension>('vscode.git');
  try {
    return extension?.isActive === true ? extension.exports.getAPI(1).git.path : 'git';
  } catch {
    return 'git'; // The extension is disabled, but git may be installed.
  }
}
