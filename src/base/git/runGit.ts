/** Runs git without letting its configuration run other programs. */
import { execFile } from 'node:child_process';

/** How a run of git has ended. */
export interface GitResult {
  /** The exit code; undefined if git couldn't be run, or was too slow. */
  readonly code: number | undefined;
  readonly stdout: string;
  /** What git has written to stderr, or why git couldn't be run. */
  readonly stderr: string;
}

/** Runs git in a folder, with these arguments. It never rejects. */
export type RunGit = (folder: string, ...args: readonly string[]) => Promise<GitResult>;

/** Milliseconds that git may take. */
const MAX_TIME = 10_000;
/** The most bytes of git's output: the names of a hundred thousand branches. */
const MAX_OUTPUT = 16 * 1024 * 1024;

/** @param program the path of git, or its name to find it in PATH @param maxTime milliseconds until a run of git is ended */
export const createGitRunner =
  (program: () => string, maxTime = MAX_TIME): RunGit =>
  (folder, ...args) =>
    new Promise((resolve) => {
      const options = { env: gitEnvironment(), timeout: maxTime, maxBuffer: MAX_OUTPUT, windowsHide: true };
      execFile(program(), ['-C', folder, ...SAFE_OPTIONS, ...args], options, (error, stdout, stderr) => {
        const { code = 0, message = '' } = error ?? {};
        if (typeof code === 'number') resolve({ code, stdout, stderr });
        else resolve({ code: undefined, stdout, stderr: code === null ? tooSlowMessage(maxTime) : message });
      });
    });

/** Returns the message of a git that has failed. */
export const gitErrorMessage = ({ stderr }: Pick<GitResult, 'stderr'>): string =>
  stderr.trim() || 'git failed';

const tooSlowMessage = (maxTime: number): string => `git didn't end in ${maxTime / 1000} seconds`;

/** These options override git's configuration, even that in variables. */
const SAFE_OPTIONS = ['-c', 'core.fsmonitor=false'];

/**
 * Matches variables that contain git's configuration. Without a `safe.directory` there, git may reject the repository of another
 * user.
 */
const CONFIGURATION_VARIABLE = /^GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+|PARAMETERS|GLOBAL|SYSTEM|NOSYSTEM)$/i;

function gitEnvironment(): NodeJS.ProcessEnv {
  // GIT_DIR and others can select another repository.
  const environment = Object.entries(process.env).filter(
    ([name]) => !/^GIT_/i.test(name) || CONFIGURATION_VARIABLE.test(name),
  );
  return {
    ...Object.fromEntries(environment),
    GIT_OPTIONAL_LOCKS: '0',
    // No protocol is allowed, so that git doesn't fetch objects of a partial clone.
    GIT_ALLOW_PROTOCOL: '',
    // On Windows, git would look for programs in the working folder first.
    NoDefaultCurrentDirectoryInExePath: '1',
  };
}
