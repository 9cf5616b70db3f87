/** Why a Postgres on this machine can't be run: it was built for another system, or libraries are missing. */
import { existsSync, readdirSync } from 'node:fs';

const isMusl = process.platform === 'linux' && hasMuslLoader('/lib');

function hasMuslLoader(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('ld-musl-'));
}

const COMMANDS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'brew install postgresql',
  win32: 'the installer of postgresql.org',
};

/** For people. */
export const HOW_TO_INSTALL = installCommand(isMusl);

function installCommand(musl: boolean): string {
  return musl ? 'apk add postgresql' : (COMMANDS[process.platform] ?? 'apt install postgresql');
}

/** @param error what `execFileSync` threw. @returns a message for the user */
export function failedRun(program: string, error: unknown, musl = isMusl): string {
  const reason = reasonOf(error, musl);
  return `${program} can't run: ${reason}. Install Postgres with ${installCommand(musl)}.`;
}

function reasonOf(error: unknown, musl: boolean): string {
  const [code, output] = [textOf(error, 'code'), textOf(error, 'stderr')];
  // The file exists, so it is the loader named in it that is missing. Loaders that imitate glibc report symbols.
  const needsGlibc = code === 'ENOENT' || /Error relocating|symbol not found/.test(output);
  if (musl && needsGlibc) return 'it needs glibc, and this system has musl';
  if (code === 'ENOENT') return 'this system lacks the loader that it needs';
  const library = /error while loading shared libraries: (.*)|(version `GLIBC.*)/.exec(output);
  if (library !== null) return library[1] ?? library[2] ?? output;
  // Node runs a file in an unknown format as a shell script, so its output says nothing.
  return code === '' ? `it isn't a program for ${process.platform} ${process.arch}` : code;
}

const textOf = (error: unknown, name: 'code' | 'stderr'): string => {
  const value: unknown = error instanceof Error ? Reflect.get(error, name) : undefined;
  return typeof value === 'string' ? value : '';
};
