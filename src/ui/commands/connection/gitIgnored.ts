/** Whether a file with secrets could be committed. */
import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { extensions } from 'vscode';

/** `outside`: not in a repository. `unknown`: git failed, for example because the repository has another owner. */
export type Ignored = 'ignored' | 'notIgnored' | 'tracked' | 'outside' | 'unknown';

/** Runs git, because its rules aren't only in `.gitignore`. @param file the real path; the file may not exist */
export async function gitIgnored(file: string): Promise<Ignored> {
  // Git has the same exit code if there is no repository and if it rejects the repository.
  if (!(await isInRepository(path.dirname(file)))) return 'outside';
  const git = await gitProgram();
  const runGit = (...args: string[]) =>
    exitCode(git, ['-C', path.dirname(file), ...SAFE_OPTIONS, ...args, '--', `./${path.basename(file)}`]);
  const listed = await runGit('--literal-pathspecs', 'ls-files', '--error-unmatch');
  if (listed === 0) return 'tracked';
  if (listed !== 1) return 'unknown';
  switch (await runGit('check-ignore', '--quiet')) {
    case 0:
      return 'ignored';
    case 1:
      return 'notIgnored';
    default:
      return 'unknown';
  }
}

async function isInRepository(folder: string): Promise<boolean> {
  const isHere = await lstat(path.join(folder, '.git')).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  const parent = path.dirname(folder);
  return isHere || (parent !== folder && (await isInRepository(parent)));
}

/** The configuration of a repository must not run programs. */
const SAFE_OPTIONS = ['-c', 'core.fsmonitor=false'];

/** Runs a program without a shell. @returns undefined if it couldn't be run */
function exitCode(program: string, args: readonly string[]): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { env: gitEnvironment(), timeout: 10_000, windowsHide: true }, (error) => {
      if (error === null) resolve(0);
      else resolve(typeof error.code === 'number' ? error.code : undefined);
    });
  });
}

function gitEnvironment(): NodeJS.ProcessEnv {
  // GIT_DIR and others would select another repository.
  const environment = Object.entries(process.env).filter(([name]) => !/^GIT_/i.test(name));
  return {
    ...Object.fromEntries(environment),
    GIT_OPTIONAL_LOCKS: '0',
    // Allows no protocol, so that git fetches nothing for a partial clone.
    GIT_ALLOW_PROTOCOL: '',
    // Windows would search the working folder first.
    NoDefaultCurrentDirectoryInExePath: '1',
  };
}

/** The part of VS Code's Git extension that gives the path of the configured git. */
interface GitExtension {
  getAPI(version: 1): { readonly git: { readonly path: string } };
}

async function gitProgram(): Promise<string> {
  try {
    const git = await extensions.getExtension<GitExtension>('vscode.git')?.activate();
    return git?.getAPI(1).git.path ?? 'git';
  } catch {
    return 'git'; // The extension is disabled, but git may be installed.
  }
}
