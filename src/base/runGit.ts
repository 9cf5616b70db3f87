/** Runs git without letting the repository's configuration run other programs. */
import { execFile } from 'node:child_process';

export interface GitResult {
  /** The exit code; undefined if git couldn't be run. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunGit = (folder: string, ...args: readonly string[]) => Promise<GitResult>;

/** @param program the path of git, or its name to find it in PATH */
export const gitRunner =
  (program: () => string): RunGit =>
  (folder, ...args) =>
    new Promise((resolve) => {
      const options = { env: gitEnvironment(), timeout: 10_000, windowsHide: true };
      execFile(program(), ['-C', folder, ...SAFE_OPTIONS, ...args], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        resolve({ code: typeof code === 'number' ? code : undefined, stdout, stderr });
      });
    });

const SAFE_OPTIONS = ['-c', 'core.fsmonitor=false'];

function gitEnvironment(): NodeJS.ProcessEnv {
  // GIT_DIR and others can select another repository.
  const environment = Object.entries(process.env).filter(([name]) => !/^GIT_/i.test(name));
  return {
    ...Object.fromEntries(environment),
    GIT_OPTIONAL_LOCKS: '0',
    // No protocol is allowed, so that git doesn't fetch objects of a partial clone.
    GIT_ALLOW_PROTOCOL: '',
    // On Windows, git would look for programs in the working folder first.
    NoDefaultCurrentDirectoryInExePath: '1',
  };
}
