/**
 * Entry point of the process that runs the engine when the service runs as root. It starts as root to load its code, which
 * may be in a folder that only root can read, then switches to `nobody` permanently before it touches any data. So no code
 * may be loaded later. When the channel to the service closes, it stops its servers and exits.
 *
 *     node engineProcess.js UID GID
 */
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { EngineError, type ComputeEngine, type EngineEvents } from '../core/computeEngine.ts';
import { createPostgresEngine, type PostgresEngineOptions } from '../postgres/engine.ts';
import { endProcess, hasProcesses } from '../postgres/process/orphans.ts';
import { makePrivateFolder, writePrivateFile } from '../postgres/data/privateFiles.ts';
import { emptyFolder } from '../postgres/data/storage.ts';
import { startTime } from '../../base/processIdentity.ts';
import { hasFields, toError, toFailure, type FromEngine, type ToEngine } from './messages.ts';

type Call = Extract<ToEngine, { kind: 'call' }>;

let engine: ComputeEngine | undefined;
let pidFile: string | undefined;
let lastWake = 0;
const wakes = new Map<number, (failure: Error | undefined) => void>();

const [uid = Number.NaN, gid = Number.NaN] = process.argv.slice(2).map(Number);
become(uid, gid);
// A signal to the whole process group must not end the engine before the service has closed it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => void end());
process.on('message', (message: ToEngine) => {
  if (message.kind === 'call') void answer(message);
  else {
    wakes.get(message.id)?.(message.failure && toError(message.failure));
    wakes.delete(message.id);
  }
});

/** @throws when root's rights could not be given up */
function become(user: number, group: number): void {
  process.setgroups?.([]);
  process.setgid?.(group);
  process.setuid?.(user);
  if (process.getuid?.() !== user || process.getgid?.() !== group)
    throw new Error(`Could not become ${user}`);
}

async function end(): Promise<void> {
  await close().catch(() => undefined);
  process.exit();
}

async function close(): Promise<void> {
  await engine?.close();
  if (pidFile !== undefined) rmSync(pidFile, { force: true });
}

function send(message: FromEngine): void {
  // The service may have exited.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

const log = (line: string): void => send({ kind: 'log', line });

async function answer(call: Call): Promise<void> {
  const { id } = call;
  try {
    send({ kind: 'result', id, value: await perform(call) });
  } catch (error) {
    send({ kind: 'failed', id, failure: toFailure(error) });
  }
}

async function perform({ method, args }: Call): Promise<unknown> {
  // The service is trusted: its arguments match the signatures.
  if (method === 'begin') return begin(args[0] as PostgresEngineOptions);
  if (method === 'empty') return emptyUnused(args[0] as string);
  if (method === 'close') return close();
  if (engine === undefined) throw new EngineError('The engine was not started');
  if (method === 'open') return engine.open(events);
  return Reflect.apply(engine[method], engine, args) as unknown;
}

/** Creates the engine. @returns the facts that the service reads without a call */
async function begin(options: PostgresEngineOptions): Promise<Pick<ComputeEngine, 'pgVersion' | 'pooler'>> {
  await succeed(options.root);
  engine = createPostgresEngine({ ...options, log });
  return { pgVersion: engine.pgVersion, pooler: engine.pooler };
}

/** After a service was killed, waits until its engine has stopped; then records this process for the next engine. */
async function succeed(root: string): Promise<void> {
  makePrivateFolder(root);
  const file = path.join(root, 'engine.pid');
  const earlier = readEarlier(file);
  if (earlier !== undefined) await endProcess(earlier);
  const { pid } = process;
  writePrivateFile(file, JSON.stringify({ pid, startedAt: startTime(pid) }));
  pidFile = file;
}

function readEarlier(file: string): { readonly pid: number; readonly startedAt: number } | undefined {
  try {
    const written = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; startedAt: number };
    return hasFields(written, { pid: 'number', startedAt: 'number' }) ? written : undefined;
  } catch {
    return undefined; // No earlier engine.
  }
}

/** Empties a folder of data unless servers run on it. @returns whether it is empty */
async function emptyUnused(folder: string): Promise<boolean> {
  if (hasProcesses(folder)) return false;
  await emptyFolder(folder);
  return true;
}

const events: EngineEvents = {
  wake: async (computeId) => {
    const id = (lastWake += 1);
    const woken = new Promise<void>((resolve, reject) => {
      wakes.set(id, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
    send({ kind: 'wake', id, computeId });
    return woken;
  },
  activity: (computeId, open) => send({ kind: 'activity', computeId, open }),
  crashed: (computeId, reason) => send({ kind: 'crashed', computeId, reason }),
};
