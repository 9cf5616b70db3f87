/** Starts the local service as users do: as a separate process, on a free port, with a new data folder. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { BaseUrl } from '../../src/api/transport/baseUrl.ts';
import { Client } from '../../src/api/client.ts';
import { stopOrphans } from '../../src/service/postgres/server/orphans.ts';
import { findPrograms } from '../../src/service/postgres/server/programs.ts';
import { recordingFile } from '../contract/recordings.ts';
import { atEndOfTest } from './atEndOfTest.ts';
import { BUILT_RECORDER, builtService } from './builtService.ts';
import { prepareStorage } from './preparedStorage.ts';
import { projectRoot } from '../workbench/folders.ts';

export interface LocalServiceOptions {
  /** More command-line arguments, such as `--operation-delay`, `500`. */
  readonly args?: readonly string[];
  /** Whether computes run on Postgres. False adds `--no-postgres`. */
  readonly postgres?: boolean;
  readonly key?: string;
  /** Kept at the end. Without it, a new folder is created and removed when the service ends. */
  readonly dataDir?: string;
  /** Whether it runs `initdb` itself. By default, a new data directory has a template already. */
  readonly createsTemplate?: boolean;
  /** A command that runs the service's command line, which is appended to it. */
  readonly under?: readonly string[];
}

export interface LocalService {
  readonly baseUrl: BaseUrl;
  readonly key: string;
  readonly pid: number;
  readonly dataDir: string;
  /** Has the key and does not retry, so that the test sees each reply of the service. */
  readonly client: Client;
  /** Returns the output to standard error so far, without the notice that computes are simulated. */
  stderr(): string;
  /** Ends the service like Ctrl-C. Resolves with its exit code. */
  stop(): Promise<number | null>;
  /** Ends the service with SIGKILL. */
  kill(): Promise<void>;
  /** Resolves with the exit code when the service has ended, for any reason. */
  readonly ended: Promise<number | null>;
}

/** Thrown if the service ends before it is ready. */
export class DidNotStart extends Error {
  readonly exitCode: number | null;
  readonly stderr: string;

  constructor(exitCode: number | null, stderr: string) {
    super(`The local service ended with ${exitCode}: ${stderr}`);
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

/** What a service with `--no-postgres` prints at its start. */
export const SIMULATED = /^Computes are simulated \(--no-postgres\).*\n/m;

const folders: string[] = [];
process.once('exit', () => folders.forEach(removeFolder));

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // There, a process that ends with this one may still have it open.
    if (process.platform !== 'win32') throw error;
  }
}

/** Creates a folder that is removed when the test process ends. A service of root reaches it after it became `nobody`. */
export function temporaryFolder(parent = os.tmpdir()): string {
  const folder = mkdtempSync(path.join(parent, 'hosted-postgres-test-'));
  chmodSync(folder, 0o711);
  folders.push(folder);
  return folder;
}

/** The file with the account of a service. */
export const accountFile = (dataDir: string): string => path.join(dataDir, 'postgres', 'account.json');

/** Whether the last service on the folder has ended cleanly. A service of root can't remove its lock. */
export const hasReleasedLock = (dataDir: string): boolean =>
  !(statSync(path.join(dataDir, 'service.lock'), { throwIfNoEntry: false })?.size ?? 0);

/** It ends with the test at the latest. @throws {DidNotStart} */
export async function startLocalService(options: LocalServiceOptions = {}): Promise<LocalService> {
  const key = options.key ?? randomBytes(16).toString('hex');
  const dataDir = options.dataDir ?? temporaryFolder();
  const flags = [
    '--port',
    '0',
    '--data-dir',
    dataDir,
    ...(options.postgres === false ? ['--no-postgres'] : []),
  ];
  const needsPostgres = options.postgres !== false && options.args?.includes('--postgres-path') !== true;
  if (needsPostgres && options.createsTemplate !== true) await prepareStorage(dataDir);
  const program = await builtService();
  const exchanges = recordingFile();
  const args = [
    ...(exchanges === undefined
      ? []
      : ['--import', pathToFileURL(path.join(path.dirname(program), BUILT_RECORDER)).href]),
    program,
  ];
  const node = [process.execPath, ...args, ...flags, ...(options.args ?? [])];
  const [command = process.execPath, ...rest] = [...(options.under ?? []), ...node];
  const child = spawn(command, rest, {
    cwd: projectRoot,
    env: {
      ...process.env,
      ...(exchanges !== undefined && { RECORDED_EXCHANGES: exchanges }),
      HOSTED_POSTGRES_SERVICE_API_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const ended = once(child, 'close').then(async ([code]) => {
    // Windows has no signals, so the service could not end its servers, which keep their files open.
    if (process.platform === 'win32')
      await stopOrphans({ root: path.join(dataDir, 'postgres') }, ownPostgres());
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
    return code as number | null;
  });
  const ready = await Promise.race([firstLine(child), ended]);
  if (typeof ready !== 'string') throw new DidNotStart(ready, errors.join(''));
  endWithProcess(child);
  const { baseUrl } = JSON.parse(ready) as { baseUrl: BaseUrl };
  const end = async (signal: NodeJS.Signals) => {
    child.ref();
    child.kill(signal);
    return ended;
  };
  atEndOfTest(() => end('SIGINT'));
  return {
    baseUrl,
    key,
    pid: child.pid ?? 0,
    dataDir,
    client: new Client({ baseUrl, key, fetch: globalThis.fetch, retries: 0 }),
    stderr: () => errors.join('').replace(SIMULATED, ''),
    ended,
    stop: () => end('SIGINT'),
    kill: async () => void (await end('SIGKILL')),
  };
}

const ownPostgres = () => path.join(findPrograms(undefined).first ?? '', 'postgres.exe');

/** Lets the test process end even if a failed test left the service running, and ends the service with it. */
function endWithProcess(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}

async function firstLine(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface({ input: child.stdout })) return line;
  return once(child, 'close').then(([code]) => code as null);
}
