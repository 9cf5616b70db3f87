import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A program that ends, with everything it started, at the latest when this process does; see guard.ts. */
export interface Guarded {
  /** Leads the process group of the program and its children. */
  readonly pid: number;
  /** Resolves with the exit code when the program and all of its children are gone. */
  readonly exited: Promise<number>;
  readonly running: boolean;
  /** Ends it and waits for that. */
  stop(): Promise<void>;
}

export interface GuardedOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Where its output goes; by default to this process's own. */
  readonly output?: number | 'inherit' | 'ignore';
}

export function startGuarded(command: string, args: readonly string[], options: GuardedOptions): Guarded {
  const guard = path.join(import.meta.dirname, 'guard.ts');
  const quiet = '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON';
  const output = options.output ?? 'inherit';
  const stdio: StdioOptions = ['pipe', output, output];
  const child = spawn(process.execPath, [quiet, guard, command, ...args], {
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

/** The environment without what npm, or a VS Code whose terminal this is, tells its own children. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|VSCODE_)/.test(name)));
}
