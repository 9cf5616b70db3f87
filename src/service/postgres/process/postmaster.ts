/** A Postgres server as a child process: start, reload, stop, and notice its end. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '../../core/computeEngine.ts';
import type { Binaries } from '../config/programs.ts';
import { inBackground, serverEnvironment } from './runProgram.ts';
import { followLog, reasonIn } from './serverLog.ts';
import type { ServerAddress } from '../network/serverAddress.ts';

interface PostmasterOptions {
  readonly binaries: Binaries;
  readonly dataDir: string;
  readonly address: ServerAddress;
  /** Arguments after `-D`. They win over every configuration file. */
  readonly args: readonly string[];
  readonly onLine: (line: string) => void;
}

/** For a start, including crash recovery. Milliseconds. */
const START_LIMIT = 120_000;
/** Between two checks of a starting server. A start takes about 20 ms. Milliseconds. */
const START_POLL = 1;
/** For a clean stop. A server that takes longer is killed and recovers at the next start. Milliseconds. */
const STOP_LIMIT = 30_000;
const KILL_LIMIT = 5_000;

export class Postmaster {
  /** Resolves with how the process ended. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #lastLines: readonly string[];
  readonly #options: PostmasterOptions;
  #stopping = false;

  private constructor(options: PostmasterOptions) {
    this.#options = options;
    this.#child = spawn(options.binaries.postgres, ['-D', options.dataDir, ...options.args], {
      cwd: path.parse(options.dataDir).root,
      ...inBackground(),
      env: serverEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const { stderr } = this.#child;
    if (stderr === null) throw new EngineError('Postgres has no standard error');
    this.#lastLines = followLog(stderr, options.onLine);
    this.ended = exitDescription(this.#child);
  }

  /** Starts a server and resolves when it accepts connections. @throws {EngineError} with Postgres's reason. */
  static async start(options: PostmasterOptions): Promise<Postmaster> {
    const postmaster = new Postmaster(options);
    await postmaster.#ready();
    return postmaster;
  }

  get address(): ServerAddress {
    return this.#options.address;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Makes the server read its configuration again, and a standby try its primary at once. */
  reload(): void {
    this.#signal('SIGHUP');
  }

  /** Stops the server cleanly and closes its connections. Idempotent. */
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
      if (end !== undefined)
        throw new EngineError(reasonIn(this.#lastLines) ?? `Postgres ${end} while starting`);
      const written = readPostmasterPid(this.#options.dataDir);
      if (written?.pid === this.#child.pid && /^(ready|standby)$/.test(written?.status ?? '')) return;
      if (limit.aborted) {
        await this.stop();
        throw new EngineError(`Postgres did not accept connections within ${START_LIMIT / 1000} s`);
      }
      await sleep(START_POLL);
    }
  }

  #signal(signal: 'SIGHUP' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    if (process.platform === 'win32' && signal !== 'SIGKILL') {
      // Windows has no signals. Postgres reads a pipe instead, to which pg_ctl writes.
      // On other systems, pg_ctl would take 100 ms to notice the end of a server that stops in 15 ms.
      const name = signal.slice('SIG'.length);
      const program = path.join(this.#options.binaries.folder, 'pg_ctl.exe');
      execFile(program, ['kill', name, String(pid)], { windowsHide: true }, () => {});
    } else this.#child.kill(signal);
  }
}

async function exitDescription(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be run (${error.message})`));
    // `close` follows the last output, so the reason is complete. A backend that outlives a killed postmaster may keep
    // standard error open, so the wait is limited.
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

const endsWithin = async (ended: Promise<string>, limit: number): Promise<boolean> =>
  Promise.race([ended.then(() => true), sleep(limit, false, { ref: false })]);

/** `postmaster.pid`, which a running Postgres has in its data directory. */
interface PostmasterPid {
  readonly pid: number;
  /** Seconds since 1970. */
  readonly startedAt: number;
  /** `starting`, `ready`, `standby` (accepts reads), `stopping`, or empty at first. */
  readonly status: string;
}

export const postmasterPidFile = (dataDir: string): string => path.join(dataDir, 'postmaster.pid');

export function readPostmasterPid(dataDir: string): PostmasterPid | undefined {
  let text: string;
  try {
    text = readFileSync(postmasterPidFile(dataDir), 'utf8');
  } catch {
    return undefined; // Not running.
  }
  const lines = text.split('\n');
  // A single-user server writes its pid with a minus.
  const pid = Math.abs(Number(lines[0]));
  return pid > 0 ? { pid, startedAt: Number(lines[2]), status: (lines[7] ?? '').trim() } : undefined;
}
