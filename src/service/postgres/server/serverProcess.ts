/** A server (Postgres or PgBouncer) as a child process: its log, its end, and signals to it. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeExit } from './cannotRun.ts';
import type { ServerAddress } from './serverAddress.ts';
import { serverEnvironment } from './serverEnvironment.ts';
import { backgroundOptions, missingProgramMessage } from './runProgram.ts';
import { findCrash, followLog } from './serverLog.ts';

/** The signals that end a server, and how many milliseconds to wait after each. */
export type StopSteps = readonly (readonly [signal: NodeJS.Signals, limit: number])[];

/** How to start a server. */
export interface ServerOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly address: ServerAddress;
  readonly onLine: (line: string) => void;
  /** The line of the log that says that the server accepts connections. */
  readonly readyLine: RegExp;
  readonly stopSteps: StopSteps;
  /** A descriptor for the server, which has it until its last process has ended. It is closed here. */
  readonly inherited?: number | undefined;
  /** If the program only starts the server: the server's process, once it is known. The server has the program's output. */
  readonly serverPid?: () => number | undefined;
}

/** A server that was started as a child process. */
export class ServerProcess {
  static readonly #running = new Set<ServerProcess>();
  readonly address: ServerAddress;
  /** Resolves when the server accepts connections. */
  readonly ready: Promise<true>;
  /** Resolves with how the process ended. */
  readonly ended: Promise<string>;
  /** The last lines of the server's log so far. */
  readonly lastLines: string[] = [];
  readonly #child: ChildProcess;
  readonly #options: ServerOptions;
  #stopping = false;

  constructor(options: ServerOptions) {
    const { program, args, address, onLine, readyLine, serverPid, inherited } = options;
    this.address = address;
    const child = spawn(program, args, {
      cwd: path.parse(program).root,
      ...backgroundOptions(),
      env: serverEnvironment(program),
      stdio: ['ignore', serverPid === undefined ? 'ignore' : 'pipe', 'pipe', inherited],
    });
    if (inherited !== undefined) closeSync(inherited);
    this.#child = child;
    this.#options = options;
    let setReady = () => {};
    this.ready = new Promise((resolve) => (setReady = () => resolve(true)));
    for (const stream of [child.stdout, child.stderr])
      if (stream !== null)
        followLog(stream, this.lastLines, (line) => {
          if (readyLine.test(line)) setReady();
          onLine(line);
        });
    this.ended = exitDescription(child, serverPid !== undefined).then((how) => {
      const crash = findCrash(this.lastLines);
      return crash === undefined ? how : `${how}: ${crash}`;
    });
    ServerProcess.#running.add(this);
    void this.ended.then(() => ServerProcess.#running.delete(this));
  }

  /** Ends all servers of this process without letting them write their data. */
  static quitAll(): void {
    for (const server of ServerProcess.#running) server.#signal('SIGQUIT');
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Whether the server is being stopped, or has ended. */
  get isOver(): boolean {
    return this.#stopping || !ServerProcess.#running.has(this);
  }

  /** Makes the server read its configuration again. */
  reload(): void {
    this.#signal('SIGHUP');
  }

  /** Ends the server, which closes its connections. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const [signal, limit] of this.#options.stopSteps) {
      this.#signal(signal);
      if ((await withTimeLimit(limit, this.ended)) !== TIMED_OUT) return;
    }
  }

  #signal(signal: NodeJS.Signals): void {
    const { exitCode, signalCode, spawnfile } = this.#child;
    const { serverPid } = this.#options;
    const isRunning = exitCode === null && signalCode === null;
    const pid = serverPid === undefined ? (isRunning ? this.#child.pid : undefined) : serverPid();
    if (pid !== undefined) signalServer(spawnfile, pid, signal);
  }
}

/** Asks a server. @returns undefined if that fails because the server is over by then */
export async function askUnlessOver<T>(
  server: Pick<ServerProcess, 'isOver'>,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (server.isOver) return undefined;
    throw error;
  }
}

/** What {@link withTimeLimit} returns after the limit. */
export const TIMED_OUT = Symbol('late');

/**
 * Waits for a result, but not longer than the limit in milliseconds. The timer ends with the result, so that it keeps nothing in
 * memory.
 */
export async function withTimeLimit<T>(limit: number, result: Promise<T>): Promise<T | typeof TIMED_OUT> {
  const timer = new AbortController();
  const late = sleep(limit, TIMED_OUT, { ref: false, signal: timer.signal });
  late.catch(() => undefined); // The wait was aborted.
  try {
    return await Promise.race([result, late]);
  } finally {
    timer.abort();
  }
}

/**
 * Sends a signal to a server. Windows has no signals, and would end the server at once. Postgres reads a pipe instead, to which
 * pg_ctl writes. On other systems, pg_ctl would take 100 ms to notice the end of a server that stops in 15 ms.
 * @param program the program of the server. On Windows, pg_ctl is in its folder
 * @param pid the id of a process that may have just ended
 */
export function signalServer(program: string, pid: number, signal: NodeJS.Signals): void {
  if (process.platform !== 'win32' || signal === 'SIGKILL') sendSignal(pid, signal);
  else
    execFile(
      pgCtlProgram(program),
      ['kill', signal.slice('SIG'.length), String(pid)],
      { windowsHide: true },
      () => {},
    );
}

/** Returns the path of pg_ctl, which is in the folder of this program. */
export const pgCtlProgram = (postgres: string): string =>
  path.join(path.dirname(postgres), `pg_ctl${path.extname(postgres)}`);

/** Sends a signal to a process that may have just ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The server has just ended.
  }
}

/** @param isStarter whether the program only starts the server, which ends with its output */
async function exitDescription(child: ChildProcess, isStarter: boolean): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', ({ message }) =>
      resolve(
        `could not be run (${existsSync(child.spawnfile) ? message : missingProgramMessage(child.spawnfile)})`,
      ),
    );
    // `close` follows the last output, so the reason is complete. A backend that outlives a killed postmaster may keep
    // standard error open, so the wait is limited.
    child.once('exit', (code, signal) => {
      const how = describeExit(code, signal);
      const isStarted = isStarter && code === 0;
      const timer = isStarted ? undefined : setTimeout(() => resolve(how), 200);
      child.once('close', () => {
        clearTimeout(timer);
        resolve(isStarted ? 'has ended' : how);
      });
    });
  });
}
