/** Whether git would take a file with secrets into the repository. */
import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { extensions } from 'vscode';

/** `outside`: of any repository. `unknown`: git cannot say, for instance because the repository has another owner. */
export type Ignored = 'ignored' | 'notIgnored' | 'tracked' | 'outside' | 'unknown';

/** Asks git, whose rules are in more places than `.gitignore`. @param file its real path, on this machine; it need not exist */
export async function gitIgnored(file: string): Promise<Ignored> {
  // Git's exit code is the same for a folder without a repository and for a repository that it rejects.
  if (!(await isInRepository(path.dirname(file)))) return 'outside';
  const git = await gitProgram();
  const ask = (...args: string[]) =>
    exitCode(git, ['-C', path.dirname(file), ...SAFE, ...args, '--', `./${path.basename(file)}`]);
  const listed = await ask('--literal-pathspecs', 'ls-files', '--error-unmatch');
  if (listed === 0) return 'tracked';
  if (listed !== 1) return 'unknown';
  switch (await ask('check-ignore', '--quiet')) {
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

/** A repository's configuration must not make git run programs. */
const SAFE = ['-c', 'core.fsmonitor=false'];

/** No shell. @returns undefined when the program could not be run */
function exitCode(program: string, args: readonly string[]): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { env: gitEnvironment(), timeout: 10_000, windowsHide: true }, (error) => {
      if (error === null) resolve(0);
      else resolve(typeof error.code === 'number' ? error.code : undefined);
    });
  });
}

function gitEnvironment(): NodeJS.ProcessEnv {
  // GIT_DIR and others would make git answer for another repository.
  const others = Object.entries(process.env).filter(([name]) => !/^GIT_/i.test(name));
  return {
    ...Object.fromEntries(others),
    GIT_OPTIONAL_LOCKS: '0',
    // No protocol is allowed: git fetches nothing that a partial clone lacks.
    GIT_ALLOW_PROTOCOL: '',
    // Windows would look for git in the working folder first.
    NoDefaultCurrentDirectoryInExePath: '1',
  };
}

/** As far as the built-in extension is known here: the git that the user has chosen for VS Code. */
interface GitExtension {
  getAPI(version: 1): { readonly git: { readonly path: string } };
}

async function gitProgram(): Promise<string> {
  try {
    const git = await extensions.getExtension<GitExtension>('vscode.git')?.activate();
    return git?.getAPI(1).git.path ?? 'git';
  } catch {
    return 'git'; // Disabled in the settings: git may be there all the same.
  }
}
