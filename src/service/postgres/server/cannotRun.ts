/** Why a program of Postgres can't run on this machine, and what to do, by how the system or the loader of programs ended it. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fieldsOf } from '../../../base/fieldsOf.ts';

interface Cause {
  readonly reason: string;
  /** What to do, if not to install Postgres. */
  readonly remedy?: string;
}

function isMuslSystem(): boolean {
  try {
    return readdirSync('/lib').some((name) => name.startsWith('ld-musl-'));
  } catch {
    return false; // There is no such folder.
  }
}

const isMusl = process.platform === 'linux' && isMuslSystem();

const COMMANDS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'brew install postgresql',
  win32: 'the installer of postgresql.org',
};

/** Returns the command that installs Postgres on this machine. */
export const howToInstall = (musl = isMusl): string =>
  musl ? 'apk add postgresql' : (COMMANDS[process.platform] ?? 'apt install postgresql');

/** Describes why a program failed. @param error what `execFileSync` threw @returns a message for the user */
export function describeProgramFailure(program: string, error: unknown, musl = isMusl): string {
  const { reason, remedy = `Install Postgres with ${howToInstall(musl)}` } = findCause(program, error, musl);
  return `${program} can't run: ${reason}. ${remedy}.`;
}

/** How the loader begins its messages, after the name of the program. */
const LOADER = /^.*?: (?:(?:error while loading shared libraries|symbol lookup error|relocation error): )?/;

/** What macOS's loader reports for a library in quarantine. */
const QUARANTINED = /library load disallowed by system policy|not valid for use in process/;

function findCause(program: string, error: unknown, musl: boolean): Cause {
  const { code, signal, stderr, status } = fieldsOf(error);
  const output = typeof stderr === 'string' ? stderr : '';
  const exit = typeof status === 'number' ? windowsCause(status) : undefined;
  if (exit !== undefined) return exit;
  if (process.platform === 'darwin' && (signal === 'SIGKILL' || QUARANTINED.test(output)))
    return refusedByMacos(program);
  // The file exists, so ENOENT means that the loader named in it is missing. Loaders that imitate glibc report symbols.
  const needsGlibc =
    code === 'ENOENT' || /Error (?:loading shared library|relocating)|symbol not found/.test(output);
  if (musl && needsGlibc) return { reason: 'it needs glibc, and this system has musl' };
  if (code === 'ENOENT') return { reason: 'this system lacks the loader that it needs' };
  if (process.platform === 'win32' && typeof code === 'string')
    return { reason: `a policy such as AppLocker, or a virus scanner, forbids it (${code})` };
  if (code === 'EACCES') return { reason: 'its file system (noexec) or its rights forbid it' };
  if (typeof code === 'string') return { reason: code };
  // A signal ends a program on a processor without the instructions that it was built for, for example.
  if (typeof signal === 'string') return { reason: `it was ended by ${signal}` };
  // Node runs a file in an unknown format as a shell script, so the shell's errors say nothing.
  const isScript = output === '' || /^.*: (?:line )?\d+: |cannot execute binary file/.test(output);
  if (isScript) return { reason: `it isn't a program for ${process.platform} ${process.arch}` };
  const line = output.split('\n').find((each) => !each.includes('no version information available'));
  return { reason: (line ?? output).replace(LOADER, '') };
}

/** Returns the cause if macOS kills a program, because a browser has downloaded it or it has changed since it was signed. */
const refusedByMacos = (program: string): Cause => ({
  reason: 'macOS refuses it, because it was downloaded or its signature is not valid',
  remedy: `Run: xattr -dr com.apple.quarantine '${path.posix.resolve(program, '..', '..')}'`,
});

const RUNTIME = 'Install the current Visual C++ runtime: https://aka.ms/vs/17/release/vc_redist.x64.exe';

/** The causes by exit code. Postgres's programs need the runtime, which no part of Windows contains. */
const WINDOWS: ReadonlyMap<number, Cause> = new Map([
  [0xc0000135, { reason: 'Windows lacks the Visual C++ runtime (0xC0000135)', remedy: RUNTIME }],
  [0xc0000139, { reason: 'the Visual C++ runtime is too old (0xC0000139)', remedy: RUNTIME }],
  [0xc0000005, { reason: 'it crashed, usually by an old Visual C++ runtime (0xC0000005)', remedy: RUNTIME }],
]);

const windowsCause = (code: number): Cause | undefined => WINDOWS.get(code >>> 0);

/** Returns how a process ended, for messages. */
export function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (code === null) return `was ended by ${signal}`;
  const cause = windowsCause(code);
  return cause === undefined ? `ended with code ${code}` : `can't run: ${cause.reason}. ${cause.remedy}`;
}
