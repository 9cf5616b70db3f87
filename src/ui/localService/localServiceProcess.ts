/**
 * The process of the local service, shared by all windows: joins the one that runs on the data directory or starts
 * it. It outlives the window that started it for as long as any window holds a lease. The key goes over standard input,
 * where no other program can read it, and to a running service only after that has proved what it is.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { pause, systemClock } from '../../base/clock.ts';
import { isStillRunning, type ProcessIdentity } from '../../base/processIdentity.ts';
import { LocalServiceError } from './localServiceError.ts';
import { findAddress, findOwner } from './localServiceFiles.ts';
import { statusWithKey, takeLease, type Lease } from './localServiceLease.ts';

export interface LocalServiceOptions {
  /** The bundled service. */
  readonly script: string;
  readonly dataDir: string;
  readonly key: string;
  /** The port it had last, so that addresses stay; 0 is any. */
  readonly port: number;
  readonly postgresPath: string | undefined;
}

/** Milliseconds without any lease until the service ends: longer than a window takes to reload. */
const GRACE = 10_000;
const START_WITHIN = 60_000;

/** Exit codes of the service. */
const ALREADY_RUNNING = 3;
const PORT_IN_USE = 4;
const REVOKED_KEY = 9;

/**
 * @throws {LocalServiceError} silent: the one that runs does not answer
 * @throws {Error} with the service's own line on why it cannot start
 */
export async function joinOrStart(options: LocalServiceOptions): Promise<Lease> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const deadline = systemClock.now() + START_WITHIN;
  let { port } = options;
  for (;;) {
    const lease = await join(options);
    if (lease !== undefined) return lease;
    const failure = await start({ ...options, port });
    if (failure === undefined) return await joinStarted(options);
    if (failure.code === REVOKED_KEY) throw new LocalServiceError('revokedKey', failure.reason);
    if (failure.code === PORT_IN_USE && port !== 0) port = 0;
    else if (failure.code !== ALREADY_RUNNING) throw new Error(failure.reason);
    else if (systemClock.now() > deadline) throw new LocalServiceError('silent', failure.reason);
    else await pause(200); // It is about to publish its address, or to end.
  }
}

async function joinStarted(options: LocalServiceOptions): Promise<Lease> {
  const lease = await join(options);
  if (lease !== undefined) return lease;
  throw new LocalServiceError('ended', 'The local service ended right after its start');
}

/** A lease of the service that runs on the data directory, if there is one. @throws {Error} when it does not take the key */
async function join({ dataDir, key }: LocalServiceOptions): Promise<Lease | undefined> {
  const owner = await findOwner(dataDir);
  const address = owner && (await findAddress(dataDir, owner));
  const lease = address && (await takeLease(address));
  if (lease === undefined) return undefined;
  let status: number | undefined;
  try {
    status = await statusWithKey(lease, key);
    if (status === 200) return lease;
  } finally {
    if (status !== 200) lease.release();
  }
  if (status === undefined) return undefined;
  throw new Error(`The local service does not take this window's key (status ${status})`);
}

/** How long each signal is given before the next, harder one. Milliseconds. */
const ENDINGS = [
  ['SIGTERM', 10_000],
  ['SIGKILL', 5_000],
] as const;

/**
 * Ends the service that runs on the data directory. What Postgres processes outlive one that hangs are ended when the
 * service starts the next time. @returns whether it ran
 */
export async function endService(dataDir: string): Promise<boolean> {
  const owner = await findOwner(dataDir);
  if (owner === undefined) return false;
  for (const [signal, milliseconds] of ENDINGS) if (await endBy(signal, owner, milliseconds)) return true;
  throw new LocalServiceError('silent', `The local service (process ${owner.pid}) cannot be ended`);
}

/** @returns whether it has ended in time */
async function endBy(signal: NodeJS.Signals, owner: ProcessIdentity, within: number): Promise<boolean> {
  const deadline = systemClock.now() + within;
  try {
    process.kill(owner.pid, signal);
  } catch {
    // It has ended since it was looked for.
  }
  for (;;) {
    if (!(await isStillRunning(owner))) return true;
    if (systemClock.now() > deadline) return false;
    await pause(50);
  }
}

interface StartFailure {
  readonly code: number | null;
  readonly reason: string;
}

/** @returns why it could not start; undefined: it runs, and says where in its files */
async function start(options: LocalServiceOptions): Promise<StartFailure | undefined> {
  const log = await open(path.join(options.dataDir, 'service.log'), 'a+', 0o600);
  try {
    const { size } = await log.stat();
    const child = launch(options, log);
    const limit = systemClock.after(START_WITHIN, () => child.kill('SIGKILL'));
    const exited = once(child, 'exit').finally(() => limit.dispose());
    const line = await Promise.race([firstLine(child), exited]);
    if (typeof line === 'string' && line.includes('\n')) {
      limit.dispose();
      child.unref();
      return undefined;
    }
    await exited;
    return { code: child.exitCode, reason: await lastLine(log, size) };
  } finally {
    await log.close();
  }
}

function launch(options: LocalServiceOptions, log: FileHandle): ChildProcess {
  const args = [options.script, '--port', String(options.port), '--data-dir', options.dataDir];
  args.push('--api-key-stdin', '--end-with-leases', String(GRACE));
  if (options.postgresPath !== undefined) args.push('--postgres-path', options.postgresPath);
  const child = spawn(process.execPath, args, {
    cwd: options.dataDir,
    env: environment(),
    // Standard error goes to a file: a pipe would break when this window closes.
    stdio: ['pipe', 'pipe', log.fd],
    detached: true,
    windowsHide: true,
  });
  child.stdin?.on('error', () => undefined); // It ended before it read the key: the exit code tells why.
  child.stdin?.end(`${options.key}\n`);
  return child;
}

/** On the desktop this process is Electron, which is plain Node with the variable; VS Code's own ones stay here. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$|HOSTED_POSTGRES_)/.test(name),
  );
  return { ...Object.fromEntries(kept), ELECTRON_RUN_AS_NODE: '1' };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of stdout ?? []) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text;
}

async function lastLine(log: FileHandle, from: number): Promise<string> {
  const { size } = await log.stat();
  const { buffer, bytesRead } = await log.read(Buffer.alloc(Math.min(size - from, 4096)), { position: from });
  const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n');
  return lines.at(-1) || 'The local service ended without saying why';
}
