/**
 * The process of the local service, shared by all windows: joins the one that runs on the data directory or starts
 * it. It outlives the window that started it for as long as any window holds a lease, an open request that the system
 * ends with the window. The key goes over standard input, where nobody else can read it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { baseUrlOrUndefined, isLoopback, type BaseUrl } from '../api/baseUrl.ts';
import { pause } from '../base/clock.ts';

export interface LocalServiceOptions {
  /** The bundled service. */
  readonly script: string;
  readonly dataDir: string;
  readonly key: string;
  /** The port it had last, so that addresses stay; 0 is any. */
  readonly port: number;
  readonly postgresPath: string | undefined;
}

export interface RunningService {
  readonly baseUrl: BaseUrl;
  readonly pid: number;
  /** Kept when the service is gone, or this window's lease. */
  readonly ended: Promise<void>;
  release(): void;
}

interface ServiceAddress {
  readonly baseUrl: BaseUrl;
  readonly pid: number;
}

/** Milliseconds without any lease until the service ends: longer than a window takes to reload. */
const GRACE = 10_000;
const START_WITHIN = 30_000;

/** Exit codes of the service. */
const ALREADY_RUNNING = 3;
const PORT_IN_USE = 4;
const REVOKED_KEY = 9;

/** The key of {@link LocalServiceOptions} was revoked, so the service never starts with it again. */
export class KeyRevoked extends Error {
  override readonly name = 'KeyRevoked';
}

/** @throws {Error} with the service's own line on why it cannot start */
export async function joinOrStart(options: LocalServiceOptions): Promise<RunningService> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const deadline = Date.now() + START_WITHIN;
  let { port } = options;
  for (;;) {
    const running = await join(options);
    if (running !== undefined) return running;
    const started = await start({ ...options, port });
    if ('baseUrl' in started) return await lease(started, options.key);
    if (started.code === REVOKED_KEY) throw new KeyRevoked(started.reason);
    if (started.code === PORT_IN_USE && port !== 0) port = 0;
    else if (started.code !== ALREADY_RUNNING || Date.now() > deadline) throw new Error(started.reason);
    else await pause(200); // Another window was first; its service is about to say where it is.
  }
}

/** The service that runs on the data directory, if there is one. @throws {Error} when it does not take the key */
export async function join({ dataDir, key }: LocalServiceOptions): Promise<RunningService | undefined> {
  const text = await readFile(path.join(dataDir, 'service.json'), 'utf8').catch(() => undefined);
  const address = text === undefined ? undefined : parseAddress(text);
  if (address === undefined || !isAlive(address.pid)) return undefined;
  try {
    return await lease(address, key);
  } catch (error) {
    // No service there: the file is of one that was killed, or is ending right now.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return undefined;
    throw error;
  }
}

function parseAddress(text: string): ServiceAddress | undefined {
  try {
    const { baseUrl, pid } = JSON.parse(text) as { readonly baseUrl?: unknown; readonly pid?: unknown };
    const address = typeof baseUrl === 'string' ? baseUrlOrUndefined(baseUrl) : undefined;
    const isOurs = address !== undefined && isLoopback(new URL(address).hostname);
    return isOurs && typeof pid === 'number' && pid > 0 ? { baseUrl: address, pid } : undefined;
  } catch {
    // Cut off while it was being written: as good as not there.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // Not there, or not this user's, which the service would be.
    return false;
  }
}

async function lease({ baseUrl, pid }: ServiceAddress, key: string): Promise<RunningService> {
  const request = get(new URL('/lease', baseUrl), {
    agent: false,
    headers: { authorization: `Bearer ${key}` },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) {
    request.destroy();
    throw new Error(
      `The local service does not take this window's key (status ${response.statusCode ?? '?'})`,
    );
  }
  const ended = new Promise<void>((resolve) => response.once('close', resolve));
  request.on('error', () => undefined); // A connection that ends is told by `ended`.
  response.on('error', () => undefined).resume();
  return { baseUrl, pid, ended, release: () => request.destroy() };
}

type Start = ServiceAddress | { readonly code: number | null; readonly reason: string };

async function start(options: LocalServiceOptions): Promise<Start> {
  const log = await open(path.join(options.dataDir, 'service.log'), 'a+', 0o600);
  try {
    const { size } = await log.stat();
    const child = launch(options, log);
    const exited = once(child, 'exit');
    const line = await Promise.race([firstLine(child), exited]);
    const address = typeof line === 'string' ? parseAddress(line) : undefined;
    if (address !== undefined) {
      child.unref();
      return address;
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
