/**
 * Entry point of the process that runs the engine when the service runs as root. It starts as root to load its code, which
 * may be in a folder that only root can read, then switches to `nobody` permanently before it touches any data. So no code
 * may be loaded later. When the channel to the service closes, it stops its servers and exits.
 *
 *     node engineProcess.js UID GID
 */
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { startTime } from '../../base/processIdentity.ts';
import {
  EngineError,
  type ComputeEngine,
  type EngineEvents,
  type EngineFacts,
} from '../core/computeEngine.ts';
import { makePrivateFolder, writePrivateFile } from '../postgres/data/privateFiles.ts';
import { emptyFolder } from '../postgres/data/storage.ts';
import { createPostgresEngine, type PostgresEngineOptions } from '../postgres/engine.ts';
import { endProcess, hasProcesses, isServerRunning } from '../postgres/process/orphans.ts';
import { hasFields, Peer } from './peer.ts';

const PID_FILE = 'engine.pid';

let engine: ComputeEngine | undefined;
let pidFile: string | undefined;

const [uid = Number.NaN, gid = Number.NaN] = process.argv.slice(2).map(Number);
become(uid, gid);
// A signal to the whole process group must not end the engine before the service has closed it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => void end());
const service = new Peer(process, answerCall);
const events: EngineEvents = {
  wake: async (computeId) => void (await service.call('wake', computeId)),
  activity: (computeId, open) => service.notify('activity', computeId, open),
  crashed: (computeId, reason) => service.notify('crashed', computeId, reason),
};

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

async function answerCall(method: string, args: readonly unknown[]): Promise<unknown> {
  // The service is trusted: its arguments match the signatures.
  if (method === 'begin') return begin(args[0] as PostgresEngineOptions);
  if (method === 'empty') return emptyUnused(args[0] as string);
  if (method === 'close') return close();
  if (engine === undefined) throw new EngineError('The engine was not started');
  if (method === 'open') return engine.open(events);
  return Reflect.apply(Reflect.get(engine, method), engine, args) as unknown;
}

/** Creates the engine. @returns the facts that the service reads without a call */
async function begin(options: PostgresEngineOptions): Promise<EngineFacts> {
  await replaceEarlier(options.root);
  engine = createPostgresEngine({ ...options, log: (line) => service.notify('log', line) });
  const { pgVersion, postgresProblem, pooledSessions } = engine;
  return { pgVersion, postgresProblem, pooledSessions };
}

/** If a killed service left its engine running, ends it. Then records this process for the next engine. */
async function replaceEarlier(root: string): Promise<void> {
  makePrivateFolder(root);
  const earlier = readPidFile(root);
  if (earlier !== undefined) await endProcess(earlier);
  const { pid } = process;
  pidFile = path.join(root, PID_FILE);
  writePrivateFile(pidFile, JSON.stringify({ pid, startedAt: startTime(pid) }));
}

function readPidFile(root: string): { readonly pid: number; readonly startedAt: number } | undefined {
  try {
    const written = JSON.parse(readFileSync(path.join(root, PID_FILE), 'utf8')) as {
      pid: number;
      startedAt: number;
    };
    return hasFields(written, { pid: 'number', startedAt: 'number' }) ? written : undefined;
  } catch {
    return undefined; // No earlier engine.
  }
}

/** Empties a folder of data unless an engine or a server runs on it. @returns whether it is empty */
async function emptyUnused(folder: string): Promise<boolean> {
  const other = readPidFile(folder);
  if ((other !== undefined && isServerRunning(other)) || hasProcesses(folder)) return false;
  await emptyFolder(folder);
  return true;
}
