/** A Postgres server as a child process, and the pid file that it writes. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '../../core/computeEngine.ts';
import type { Binaries } from '../config/programs.ts';
import type { ServerAddress } from '../network/serverAddress.ts';
import { reasonIn } from './serverLog.ts';
import { ServerProcess } from './serverProcess.ts';

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
/** Cleanly first. A server that takes longer is killed and recovers at the next start. */
export const STOP_STEPS = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

export class Postmaster extends ServerProcess {
  readonly address: ServerAddress;

  private constructor({ binaries, dataDir, address, args, onLine }: PostmasterOptions) {
    super(binaries.postgres, ['-D', dataDir, ...args], onLine, STOP_STEPS);
    this.address = address;
  }

  /** Starts a server and resolves when it accepts connections. @throws {EngineError} with Postgres's reason. */
  static async start(options: PostmasterOptions): Promise<Postmaster> {
    const postmaster = new Postmaster(options);
    await postmaster.#ready(options.dataDir);
    return postmaster;
  }

  async #ready(dataDir: string): Promise<void> {
    const limit = AbortSignal.timeout(START_LIMIT);
    let end: string | undefined;
    void this.ended.then((how) => (end = how));
    for (;;) {
      if (end !== undefined)
        throw new EngineError(reasonIn(this.lastLines) ?? `Postgres ${end} while starting`);
      const written = readPostmasterPid(dataDir);
      if (written?.pid === this.pid && /^(ready|standby)$/.test(written?.status ?? '')) return;
      if (limit.aborted) {
        await this.stop();
        throw new EngineError(`Postgres did not accept connections within ${START_LIMIT / 1000} s`);
      }
      await sleep(START_POLL);
    }
  }
}

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
