/** Runs Postgres's own programs (initdb, a single-user server) to their end. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EngineError } from '../computeEngine.ts';
import { serverEnvironment, type Account } from './serverAccount.ts';
import { reasonIn } from './serverLog.ts';

const run = promisify(execFile);

/** @returns what it printed. @throws {EngineError} with its own reason when it fails */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly account: Account | undefined; readonly cwd: string; readonly input?: string },
): Promise<string> {
  try {
    const running = run(program, [...args], {
      ...options.account,
      cwd: options.cwd,
      env: serverEnvironment(),
      encoding: 'utf8',
    });
    running.child.stdin?.on('error', () => {}); // It ended before it read all; its exit code tells.
    running.child.stdin?.end(options.input ?? '');
    return (await running).stdout;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new EngineError(reasonIn(said.split('\n')) ?? (said || String(error)), { cause: error });
  }
}
