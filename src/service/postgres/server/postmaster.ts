/** A Postgres server as a child process, and the pid file that it writes. */
import { POSTMASTER_STOP_STEPS } from '../../../localService/endLimits.ts';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { lockFile } from '../../core/systemLock.ts';
import { EngineError } from '../../core/computeEngine.ts';
import type { PostgresBinaries } from './programs.ts';
import type { ServerAddress } from './serverAddress.ts';
import { isAdministratorRefused, findReason } from './serverLog.ts';
import {
  TIMED_OUT,
  pgCtlProgram,
  ServerProcess,
  withTimeLimit,
  type ServerOptions,
} from './serverProcess.ts';

interface PostmasterOptions {
  readonly binaries: PostgresBinaries;
  readonly dataDir: string;
  readonly address: ServerAddress;
  /** Arguments after `-D`. They win over every configuration file. */
  readonly args: readonly string[];
  readonly onLine: (line: string) => void;
}

/** The limit for a start, including crash recovery, in milliseconds. */
const START_LIMIT = 120_000;
/** A primary and a standby log this line when they are ready. */
const READY_LINE = /database system is ready to accept (read-only )?connections$/;

/** A running Postgres server. */
export class Postmaster extends ServerProcess {
  /** Starts a server and resolves when it accepts connections. @throws {EngineError} with Postgres's reason. */
  static async start(options: PostmasterOptions): Promise<Postmaster> {
    const { binaries, dataDir, args } = options;
    const program = pgCtlProgram(binaries.postgres);
    const startByPgCtl = async () =>
      startAndWait(options, { program, args: pgCtlArguments(options), serverPid: pidSince(dataDir) });
    if (refusesAdministrator.has(binaries.postgres)) return startByPgCtl();
    const inherited = await lockData(dataDir);
    try {
      return await withoutRefusal(options.onLine, async (onLine) =>
        startAndWait(
          { ...options, onLine },
          { program: binaries.postgres, args: ['-D', dataDir, ...args], inherited },
        ),
      );
    } catch (error) {
      if (!isAdministratorRefused(error) || !existsSync(program)) throw error;
      refusesAdministrator.add(binaries.postgres);
      return startByPgCtl();
    }
  }
}

/** The programs that don't run with the rights of this process, which stay the same. */
const refusesAdministrator = new Set<string>();

/** Passes on the lines of a start only when it has succeeded, or has failed for another reason than the rights of an administrator. */
async function withoutRefusal<T>(
  onLine: (line: string) => void,
  start: (onLine: (line: string) => void) => Promise<T>,
): Promise<T> {
  if (process.platform !== 'win32') return start(onLine);
  const held: string[] = [];
  let pass = (line: string): void => void held.push(line);
  const release = () => {
    pass = onLine;
    held.forEach(onLine);
  };
  try {
    const started = await start((line) => pass(line));
    release();
    return started;
  } catch (error) {
    if (!isAdministratorRefused(error)) release();
    throw error;
  }
}

/** Thrown if another server uses the data. The service can't see that server: it is in another container, or was just killed. */
export class DataInUseError extends EngineError {}

/**
 * Locks a data directory. Postgres recognizes another server on its data only if it sees its process or its shared memory, which
 * containers don't share.
 * @returns a lock for the server, if the system offers one. Windows doesn't need it
 * @throws {DataInUseError}
 */
async function lockData(dataDir: string): Promise<number | undefined> {
  const lock = process.platform === 'win32' ? undefined : await lockFile(`${dataDir}.lock`);
  if (lock === 'held')
    throw new DataInUseError(
      'Another Postgres server uses the data of this branch, perhaps in another container. End it, and try again',
    );
  return lock;
}

async function startAndWait(
  { address, onLine }: PostmasterOptions,
  command: Pick<ServerOptions, 'program' | 'args' | 'serverPid' | 'inherited'>,
): Promise<Postmaster> {
  const postmaster = new Postmaster({
    address,
    onLine,
    ...command,
    readyLine: READY_LINE,
    stopSteps: POSTMASTER_STOP_STEPS,
  });
  const result = await withTimeLimit(START_LIMIT, Promise.race([postmaster.ready, postmaster.ended]));
  if (result === true) return postmaster;
  if (result !== TIMED_OUT)
    throw new EngineError(findReason(postmaster.lastLines) ?? didNotStart(result, postmaster.lastLines));
  await postmaster.stop();
  throw new EngineError(`Postgres did not accept connections within ${START_LIMIT / 1000} s`);
}

/** Returns why a server didn't start. Before Postgres reads its settings, its messages have no level. */
const didNotStart = (result: string, lines: readonly string[]): string =>
  [`Postgres did not start: it ${result}.`, ...lines.slice(-3)].join(' ').trim();

/**
 * Returns the arguments for `pg_ctl`, which gives up the rights of an administrator on Windows. With them, Postgres doesn't run.
 */
function pgCtlArguments({ binaries, dataDir, args }: PostmasterOptions): string[] {
  const options = args.map(shellQuoted).join(' ');
  return ['start', '--no-wait', '--silent', '-D', dataDir, '-p', binaries.postgres, '-o', options];
}

/** Quotes an argument for the shell of the system, which `pg_ctl` calls. */
export function shellQuoted(argument: string): string {
  if (process.platform !== 'win32') return `'${argument.replaceAll("'", String.raw`'\''`)}'`;
  // On Windows, names of files have no quotes. A backslash at the end would escape the closing quote, so it is doubled.
  return `"${argument.replace(/\\+$/, '$&$&')}"`;
}

/** Returns the server on the data directory, unless its pid file is older. */
function pidSince(dataDir: string): () => number | undefined {
  const since = Math.floor(Date.now() / 1000);
  return () => {
    const { pid, startedAt = 0 } = readPostmasterPid(dataDir) ?? {};
    return startedAt < since ? undefined : pid;
  };
}

/** `postmaster.pid`, which a running Postgres has in its data directory. */
interface PostmasterPid {
  readonly pid: number;
  /** Seconds since 1970. */
  readonly startedAt: number;
}

export const postmasterPidFile = (dataDir: string): string => path.join(dataDir, 'postmaster.pid');

export function readPostmasterPid(dataDir: string): PostmasterPid | undefined {
  let text: string;
  try {
    text = readFileSync(postmasterPidFile(dataDir), 'utf8');
  } catch {
    return undefined; // A server that runs has this file.
  }
  const lines = text.split('\n');
  // A single-user server writes its pid with a minus.
  const pid = Math.abs(Number(lines[0]));
  return pid > 0 ? { pid, startedAt: Number(lines[2]) } : undefined;
}
