/** One running Postgres server: started on a data directory, ready, reloaded, stopped, or found dead. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { EngineError } from '../../core/computeEngine.ts';
import type { Binaries } from '../config/programs.ts';
import { readPostmasterPid } from './postmasterPid.ts';
import { serverEnvironment } from './runProgram.ts';
import { ServerLog } from './serverLog.ts';
import { socketAddress, type ServerAddress } from '../network/serverAddress.ts';

export interface PostmasterOptions {
  readonly binaries: Binaries;
  readonly dataDir: string;
  readonly address: ServerAddress;
  /** Arguments after `-D`; they win over every configuration file. */
  readonly args: readonly string[];
  readonly onLine: (line: string) => void;
}

/** How long a start may take, crash recovery included. Milliseconds. */
const START_LIMIT = 120_000;
/** How often a starting server is looked at: its whole start takes some 20 ms. */
const START_POLL = 1;
/** A clean stop writes out what is dirty; one that takes longer is cut short and recovers at the next start. */
const STOP_LIMIT = 30_000;
const KILL_LIMIT = 5_000;

export class Postmaster {
  /** Resolves with how it ended once the process is gone, whatever the reason. */
  readonly ended: Promise<string>;
  readonly socket: ReturnType<typeof socketAddress>;
  readonly #child: ChildProcess;
  readonly #log: ServerLog;
  readonly #options: PostmasterOptions;
  #stopping = false;

  private constructor(options: PostmasterOptions) {
    this.#options = options;
    this.socket = socketAddress(options.address);
    // A session of its own: Ctrl-C in a terminal reaches the service alone, which then stops its servers in order.
    this.#child = spawn(options.binaries.postgres, ['-D', options.dataDir, ...options.args], {
      cwd: path.parse(options.dataDir).root,
      detached: true,
      windowsHide: true,
      env: serverEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const { stderr } = this.#child;
    if (stderr === null) throw new EngineError('Postgres has no standard error');
    this.#log = new ServerLog(stderr, options.onLine);
    this.ended = howItEnded(this.#child);
  }

  /** Starts a server and resolves when it accepts connections. @throws {EngineError} with Postgres's own reason. */
  static async start(options: PostmasterOptions): Promise<Postmaster> {
    const postmaster = new Postmaster(options);
    await postmaster.#ready();
    return postmaster;
  }

  get address(): ServerAddress {
    return this.#options.address;
  }

  get dataDir(): string {
    return this.#options.dataDir;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Lets the server read its configuration again; wakes a standby that waits for its primary. */
  reload(): void {
    this.#signal('SIGHUP');
  }

  /** Ends the server cleanly and its connections with it. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const [signal, limit] of [
      ['SIGINT', STOP_LIMIT],
      ['SIGQUIT', KILL_LIMIT],
      ['SIGKILL', KILL_LIMIT],
    ] as const) {
      this.#signal(signal);
      if (await endsWithin(this.ended, limit)) return;
    }
  }

  async #ready(): Promise<void> {
    const limit = AbortSignal.timeout(START_LIMIT);
    let end: string | undefined;
    void this.ended.then((how) => (end = how));
    for (;;) {
      if (end !== undefined) throw new EngineError(this.#log.reason() ?? `Postgres ${end} while starting`);
      const written = readPostmasterPid(this.#options.dataDir);
      if (written?.pid === this.#child.pid && /^(ready|standby)$/.test(written?.status ?? '')) return;
      if (limit.aborted) {
        await this.stop();
        throw new EngineError(`Postgres did not accept connections within ${START_LIMIT / 1000} s`);
      }
      await new Promise((resolve) => setTimeout(resolve, START_POLL));
    }
  }

  #signal(signal: 'SIGHUP' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    if (process.platform === 'win32' && signal !== 'SIGKILL') {
      // Windows has no signals; Postgres listens on a pipe that its own pg_ctl writes to.
      const name = signal.slice('SIG'.length);
      execFile(path.join(this.#options.binaries.folder, 'pg_ctl.exe'), ['kill', name, String(pid)], () => {});
    } else this.#child.kill(signal);
  }
}

async function howItEnded(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be run (${error.message})`));
    // `close` comes after the last of standard error, so the reason is complete; a backend that outlives a killed
    // postmaster may hold standard error open, hence the bound.
    child.once('exit', (code, signal) => {
      const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
      const timer = setTimeout(() => resolve(how), 200);
      child.once('close', () => {
        clearTimeout(timer);
        resolve(how);
      });
    });
  });
}

async function endsWithin(ended: Promise<string>, limit: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limit);
  });
  const result = await Promise.race([ended.then(() => true), late]);
  clearTimeout(timer);
  return result;
}
