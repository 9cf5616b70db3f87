import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A program that ends, with everything it started, no later than this process. See supervisor.ts. */
export interface SupervisedProcess {
  /** Leads the process group of the program and its children. */
  readonly pid: number;
  /** Resolves with the exit code when the program and all of its descendants have ended. */
  readonly exited: Promise<number>;
  readonly running: boolean;
  /** Ends the program and resolves when it has ended. */
  stop(): Promise<void>;
}

export interface SupervisedOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Where the output goes. By default, to the output of this process. */
  readonly output?: number | 'inherit' | 'ignore';
}

export function startSupervised(
  command: string,
  args: readonly string[],
  options: SupervisedOptions,
): SupervisedProcess {
  const supervisor = path.join(import.meta.dirname, 'supervisor.ts');
  const output = options.output ?? 'inherit';
  const stdio: StdioOptions = ['pipe', output, output];
  // Node 24 can hang at its exit while another thread compiles code (nodejs/node#54918).
  const child = spawn(process.execPath, ['--single-threaded', supervisor, command, ...args], {
    detached: process.platform !== 'win32',
    stdio,
    env: options.env,
  });
  const exited = once(child, 'exit').then(() => child.exitCode ?? 1);
  return {
    pid: child.pid ?? 0,
    exited,
    get running() {
      return child.exitCode === null && child.signalCode === null;
    },
    async stop() {
      child.stdin?.end();
      await exited;
    },
  };
}

/** Returns the environment without the variables that npm or VS Code's terminal sets for its child processes. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|VSCODE_)/.test(name)));
}
