/** Runs the public service's command line, unmodified, against a local service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder, type LocalService } from './localService.ts';
import { projectRoot } from '../workbench/folders.ts';

const PROGRAM = path.join(projectRoot, 'node_modules/neon/dist/cli.js');

export class NeonCliError extends Error {
  override readonly name = 'NeonCliError';
  readonly exitCode: number | null;

  constructor(exitCode: number | null, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** @returns a function that runs one command and returns its output. It throws a {@link NeonCliError} if that fails. */
export function neonCli(
  service: () => Pick<LocalService, 'baseUrl' | 'key'>,
  // The program keeps a configuration in the home folder, and `.neon` and `.env.local` in the current one.
  folder = temporaryFolder(),
): (...args: readonly string[]) => Promise<string> {
  return async (...args) => {
    const { baseUrl, key } = service();
    const options = ['--api-host', baseUrl, '--config-dir', folder, '--no-analytics', '--no-color'];
    const child = spawn(process.execPath, [PROGRAM, ...options, ...args], {
      cwd: folder,
      env: {
        ...process.env,
        HOME: folder,
        CI: 'true',
        NEON_API_KEY: key,
        // Halves the time of a start.
        NODE_COMPILE_CACHE: path.join(projectRoot, 'node_modules/.cache/neon'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    if (code !== 0) throw new NeonCliError(code, `neon ${args.join(' ')} ended with ${code}: ${errors}`);
    return output;
  };
}
