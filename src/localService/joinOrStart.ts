/**
 * The process of the local service, shared by all windows. It runs as long as any window has a lease, even after the
 * window that started it was closed. A new process gets the key on standard input, where no other program can read it. A
 * running one gets the key only after it has proved its identity.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { parsePostgresLine, type AvailableExtensions } from './leaseProof.ts';
import { pause, systemClock } from '../base/clock.ts';
import { createDataFolder } from './dataFolder.ts';
import { findServiceAddress, findServiceOwner } from './discover.ts';
import { serviceEnvironment } from './serviceEnvironment.ts';
import { takeLeaseOfRunning, LocalServiceError, requestStatus, type Lease } from './lease.ts';

/** How to start the service if it doesn't run. */
export interface LocalServiceOptions {
  /** The path of the bundled service. */
  readonly script: string;
  /** The folder with the state of the service. */
  readonly dataDir: string;
  readonly key: string;
  /** The last port, so that addresses stay the same; 0 for any. */
  readonly port: number;
  readonly postgresPath: string | undefined;
  /** The folder with more extensions; undefined to use those of another Postgres on this machine. */
  readonly extensionsPath?: string | undefined;
  /** Names of extensions that owners may create although their control files don't say so. */
  readonly trustedExtensions?: readonly string[] | undefined;
  /** Milliseconds without any lease until the service ends; by default longer than a slow window takes to reload. */
  readonly grace?: number | undefined;
  /** The contents of a new account, instead of the sample. */
  readonly projectsFile?: string | undefined;
}

const GRACE = 75_000;
const START_TIMEOUT_MS = 60_000;
/** Milliseconds between two looks at another service that is starting or ending. */
const LOOK_INTERVAL = 200;

/** The exit codes of the service. */
const ALREADY_RUNNING = 3;
const PORT_IN_USE = 4;
const REVOKED_KEY = 9;

/**
 * @throws {LocalServiceError} if a running service is silent
 * @throws {Error} if the data directory can't be used, or with the last line of the service's log if it can't start
 */
export async function joinOrStartService(options: LocalServiceOptions): Promise<Lease> {
  createDataFolder(options.dataDir);
  const deadline = systemClock.now() + START_TIMEOUT_MS;
  let { port } = options;
  for (;;) {
    const running = await joinRunning(options);
    if (running !== undefined) return running;
    if (await waitForOtherStart(options.dataDir, deadline)) continue;
    const started = await startProcess({ ...options, port });
    if ('input' in started) {
      // The open input keeps the service running until there is a lease.
      const lease = await joinRunning(options).finally(() => started.input?.destroy());
      if (lease !== undefined) return lease;
      throw new LocalServiceError('ended', 'The local service ended right after it started');
    }
    const { code, reason } = started;
    if (code === REVOKED_KEY) throw new LocalServiceError('revokedKey', reason);
    else if (code === PORT_IN_USE && port !== 0) port = 0;
    else if (code !== ALREADY_RUNNING) throw new Error(reason);
    else if (systemClock.now() > deadline) throw new LocalServiceError('silent', reason);
    else await pause(LOOK_INTERVAL); // The service is ending, or another one has just begun to start.
  }
}

/**
 * Waits while a service has the lock of the folder, but hasn't published its address, because one more process could only end again.
 * @returns whether it had to wait
 */
async function waitForOtherStart(dataDir: string, deadline: number): Promise<boolean> {
  for (let hasWaited = false; ; hasWaited = true) {
    const owner = await findServiceOwner(dataDir);
    if (owner === undefined || (await findServiceAddress(dataDir, owner)) !== undefined) return hasWaited;
    if (systemClock.now() > deadline) return false;
    await pause(LOOK_INTERVAL);
  }
}

/** Returns a lease of the running service, if there is one. @throws {LocalServiceError} if it doesn't accept the key */
async function joinRunning({ dataDir, key }: LocalServiceOptions): Promise<Lease | undefined> {
  const lease = await takeLeaseOfRunning(dataDir);
  if (lease === undefined) return undefined;
  let status: number | undefined;
  try {
    status = await requestStatus(lease, key);
    if (status === 200) return lease;
  } finally {
    if (status !== 200) lease.release();
  }
  if (status === undefined) return undefined;
  if (status !== 401) throw new Error(`The local service replied with status ${status}`);
  throw new LocalServiceError('otherKey', "The local service doesn't accept the key of this window");
}

/** Whether the Postgres that was found can be used. */
export interface PostgresCheck {
  /** Why Postgres can't be used, for users. */
  readonly problem: string | undefined;
  readonly extensions: AvailableExtensions;
}

type PostgresOptions = Pick<LocalServiceOptions, 'postgresPath' | 'extensionsPath' | 'trustedExtensions'>;

/** @throws {Error} if the check itself fails */
export async function checkPostgres(script: string, folders: PostgresOptions): Promise<PostgresCheck> {
  const args = [script, '--check-postgres', ...folderArguments(folders)];
  const options = { env: serviceEnvironment(), timeout: START_TIMEOUT_MS, windowsHide: true };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  // The cast is safe, because the text is from our own program.
  const { extensions } = JSON.parse(stdout) as Pick<PostgresCheck, 'extensions'>;
  return { problem: parsePostgresLine(stdout), extensions };
}

/** The paths are absolute, because the service starts in another folder. */
const folderArguments = ({
  postgresPath,
  extensionsPath,
  trustedExtensions = [],
}: PostgresOptions): string[] => [
  ...(postgresPath === undefined ? [] : ['--postgres-path', path.resolve(postgresPath)]),
  ...(extensionsPath === undefined
    ? ['--installed-extensions']
    : ['--extensions-dir', path.resolve(extensionsPath)]),
  ...trustedExtensions.map((name) => `--trust-extension=${name}`),
];

/** Returns why it ended, or its standard input once it is running and has published its address. */
async function startProcess(
  options: LocalServiceOptions,
): Promise<{ readonly code: number | null; readonly reason: string } | { readonly input: Writable | null }> {
  const file = path.join(options.dataDir, 'service.log');
  const log = await open(file, 'a', 0o600);
  try {
    const { size } = await log.stat();
    const child = spawnService(options, log);
    const timeout = systemClock.after(START_TIMEOUT_MS, () => child.kill('SIGKILL'));
    const exited = once(child, 'exit').then(() => true);
    const ready = once(child.stdout ?? child, 'data').then(() => false);
    const hasEnded = await Promise.race([exited, ready]).finally(() => timeout.dispose());
    child.stdout?.destroy();
    child.unref();
    return hasEnded
      ? { code: child.exitCode, reason: lastLine((await readFile(file)).subarray(size)) }
      : { input: child.stdin };
  } finally {
    await log.close();
  }
}

function spawnService(options: LocalServiceOptions, log: FileHandle): ChildProcess {
  const args = [options.script, '--port', String(options.port), '--data-dir', options.dataDir];
  args.push('--api-key-stdin', '--end-with-leases', String(options.grace ?? GRACE));
  if (options.projectsFile !== undefined) args.push('--projects', options.projectsFile);
  args.push(...folderArguments(options));
  const child = spawn(process.execPath, args, {
    cwd: options.dataDir,
    env: serviceEnvironment(),
    // stderr is a file, because a pipe would break when this window closes.
    stdio: ['pipe', 'pipe', log.fd],
    detached: true,
    windowsHide: true,
  });
  child.stdin?.on('error', () => undefined); // The process has ended before it read the key. Its exit code says why.
  child.stdin?.write(`${options.key}\n`);
  return child;
}

const lastLine = (text: Buffer): string =>
  text.toString().trim().split('\n').at(-1) || 'The local service ended without a message';
