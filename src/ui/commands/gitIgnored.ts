/** Whether git would take a file with secrets into the repository. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { extensions } from 'vscode';

/** `outside`: of any repository. `unknown`: git is not there to say. */
export type Ignored = 'ignored' | 'notIgnored' | 'tracked' | 'outside' | 'unknown';

/** Asks git itself, whose rules lie in more places than `.gitignore`. @param file on this machine; it need not exist */
export async function gitIgnored(file: string): Promise<Ignored> {
  const git = await gitProgram();
  const ask = (...args: string[]) =>
    exitCode(git, ['-C', path.dirname(file), ...SAFE, ...args, '--', path.basename(file)]);
  switch (await ask('check-ignore', '--quiet')) {
    case 0:
      return 'ignored';
    case 1:
      return (await ask('ls-files', '--error-unmatch')) === 0 ? 'tracked' : 'notIgnored';
    case 128:
      return 'outside';
    default:
      return 'unknown';
  }
}

/** A repository's own configuration must not make git run programs of its choice. */
const SAFE = ['-c', 'core.fsmonitor=false'];

/** No shell. @returns undefined when the program could not be run */
function exitCode(program: string, args: readonly string[]): Promise<number | undefined> {
  // Windows would look for git in the working folder first.
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', NoDefaultCurrentDirectoryInExePath: '1' };
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: 10_000, windowsHide: true }, (error) => {
      if (error === null) resolve(0);
      else resolve(typeof error.code === 'number' ? error.code : undefined);
    });
  });
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
