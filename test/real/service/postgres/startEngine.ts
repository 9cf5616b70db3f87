/**
 * An engine for tests. If root runs them, it is in another process (this file), which becomes `nobody` as the service does:
 * the process of the tests needs root's rights later.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  EngineError,
  type ComputeEngine,
  type EngineEvents,
} from '../../../../src/service/core/computeEngine.ts';
import type { RecordedIds } from '../../../../src/service/core/recordedIds.ts';
import { loadEngine } from '../../../../src/service/loadEngine.ts';
import { dropInheritedEnvironment, findNobody } from '../../../../src/service/privileges/unixAccount.ts';
import { createPostgresEngine, findPrograms } from '../../../../src/service/postgres/engine.ts';
import { createSimulatedEngine } from '../../../../src/service/postgres/withoutPostgres.ts';
import { openDataDirectory } from '../../../../src/service/state/dataDirectory.ts';

export interface EngineOptions {
  readonly dataDir: string;
  readonly postgresPath?: string | undefined;
  readonly extensionsDir?: string | undefined;
  readonly trustedExtensions?: readonly string[] | undefined;
  readonly withoutPgBouncer?: boolean | undefined;
  /** Whether all data are deleted at the end. */
  readonly isTemporary?: boolean | undefined;
}

type Log = (line: string) => void;

/** Creates the engine in this process. If root runs it, it becomes `nobody`. @throws {EngineError | StartError} */
async function createEngine(options: EngineOptions, log: Log): Promise<ComputeEngine> {
  const { dataDir, postgresPath, extensionsDir, trustedExtensions, withoutPgBouncer, isTemporary } = options;
  const account = process.getuid?.() === 0 ? findNobody() : undefined;
  if (account !== undefined) dropInheritedEnvironment(account);
  const directory = { ...openDataDirectory(dataDir), ...(isTemporary === true && { isTemporary }) };
  const programs = { ...findPrograms(postgresPath), pooler: undefined };
  const { storage, create } = await loadEngine({
    options: { postgres: true, postgresPath, extensionsDir, trustedExtensions, allowedOrigins: [] },
    directory,
    account,
    log,
  });
  return withoutPgBouncer === true ? createPostgresEngine({ root: storage, programs, log }) : create();
}

/** @throws {EngineError | StartError} */
export async function startEngine(options: EngineOptions, log: Log): Promise<ComputeEngine> {
  if (process.getuid?.() !== 0) return createEngine(options, log);
  const child = fork(import.meta.filename, [JSON.stringify(options)], { serialization: 'advanced' });
  // It must not keep a process of failed tests alive.
  child.unref();
  child.channel?.unref();
  let events: EngineEvents | undefined;
  const call = connect(child, (method, args) => {
    if (method === 'log') return log(String(args[0]));
    return events && Reflect.apply(Reflect.get(events, method), events, args);
  });
  const method = (name: string) => [name, (...args: readonly unknown[]) => call(name, ...args)];
  const facts = await call('create').catch((error: unknown) => {
    child.disconnect();
    throw error;
  });
  const engine = {
    ...Object.fromEntries(METHODS.map(method)),
    ...(facts as object),
    async open(given: EngineEvents, recorded: RecordedIds) {
      events = given;
      await call('open', recorded);
    },
    async close() {
      if (!child.connected) return;
      await call('close');
      const exit = once(child, 'exit');
      child.ref();
      child.disconnect();
      await exit;
    },
  };
  return engine as ComputeEngine;
}

const METHODS = Object.entries(createSimulatedEngine())
  .filter(([, value]) => typeof value === 'function')
  .map(([name]) => name);

interface Message {
  readonly id: number;
  /** A call has a method, and a reply has none. */
  readonly method?: string;
  readonly args?: readonly unknown[];
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

type Handle = (method: string, args: readonly unknown[]) => unknown;

/** @returns a function that calls the other process */
function connect(other: ChildProcess | NodeJS.Process, handle: Handle) {
  const pending = new Map<number, (reply: Message) => void>();
  let last = 0;
  const send = (message: Message) => other.connected && other.send?.(message, undefined, undefined, () => {});
  const answer = async ({ id, method = '', args = [] }: Message) => {
    try {
      send({ id, value: await handle(method, args) });
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      send({ id, error: { name, message } });
    }
  };
  other.on('message', (message: Message) => {
    if (message.method !== undefined) return void answer(message);
    pending.get(message.id)?.(message);
    pending.delete(message.id);
  });
  other.on('disconnect', () => {
    for (const settle of pending.values())
      settle({ id: 0, error: { name: 'EngineError', message: 'its process ended' } });
  });
  return async (method: string, ...args: readonly unknown[]): Promise<unknown> => {
    const id = (last += 1);
    const reply = await new Promise<Message>((resolve) => {
      pending.set(id, resolve);
      send({ id, method, args });
    });
    if (reply.error === undefined) return reply.value;
    const { name, message } = reply.error;
    throw name === 'EngineError' ? new EngineError(message) : Object.assign(new Error(message), { name });
  };
}

function serve(options: EngineOptions): void {
  let engine: ComputeEngine | undefined;
  const call = connect(process, async (method, args) => {
    if (method === 'create') {
      engine = await createEngine(options, (line) => void call('log', line));
      const { pgVersion, postgresProblem, pooledSessions } = engine;
      return { pgVersion, postgresProblem, pooledSessions };
    }
    if (engine === undefined) throw new Error('No engine');
    if (method === 'open') return engine.open(events, args[0] as RecordedIds);
    return Reflect.apply(Reflect.get(engine, method), engine, args);
  });
  const events: EngineEvents = {
    wake: async (id) => void (await call('wake', id)),
    activity: (id, open) => void call('activity', id, open),
    crashed: (id, reason) => void call('crashed', id, reason),
  };
  process.once('disconnect', () => void Promise.resolve(engine?.close()).finally(() => process.exit()));
}

const [, program, given] = process.argv;
if (program === import.meta.filename && given !== undefined) serve(JSON.parse(given) as EngineOptions);
