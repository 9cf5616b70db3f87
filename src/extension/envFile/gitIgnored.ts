/** Whether a file with secrets could be committed. */
import path from 'node:path';
import type { RunGit } from '../../base/git/runGit.ts';
import { findRepository } from '../../base/git/repository.ts';

/**
 * Whether git ignores a file. An `outside` file isn't in a repository. The state is `unknown` if git failed, for example because
 * the repository has another owner.
 */
export type IgnoreState = 'ignored' | 'notIgnored' | 'tracked' | 'outside' | 'unknown';

/** Runs git, because its rules aren't only in `.gitignore`. @param file the real path; the file may not exist */
export async function readIgnoreState(runGit: RunGit, file: string): Promise<IgnoreState> {
  const folder = path.dirname(file);
  // Git has the same exit code if there is no repository and if it rejects the repository.
  if ((await findRepository(folder)) === undefined) return 'outside';
  const name = ['--', `./${path.basename(file)}`];
  const listed = await runGit(folder, '--literal-pathspecs', 'ls-files', '--error-unmatch', ...name);
  if (listed.code === 0) return 'tracked';
  if (listed.code !== 1) return 'unknown';
  switch ((await runGit(folder, 'check-ignore', '--quiet', ...name)).code) {
    case 0:
      return 'ignored';
    case 1:
      return 'notIgnored';
    default:
      return 'unknown';
  }
}
