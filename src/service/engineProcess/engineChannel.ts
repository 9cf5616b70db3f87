/** One engine process: started, called, listened to, and ended. */
import { fork, type ChildProcess } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { EngineError, type EngineEvents } from '../core/computeEngine.ts';
import { serverEnvironment } from '../postgres/process/runProgram.ts';
import { ServerLog } from '../postgres/process/serverLog.ts';
import { canWrite, type Account } from './account.ts';
import { isFromEngine, toError, toFailure, type FromEngine, type Method, type ToEngine } from './messages.ts';

export interface ChannelOptions {
  readonly account: Account;
  readonly events: EngineEvents;
  readonly log: (line: string) => void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** In the source and in a bundle it lies next to this file. */
const PROGRAM = path.join(import.meta.dirname, `engineProcess${path.extname(import.meta.filename)}`);

/** How long a process that has closed its engine may take to end. Milliseconds. */
const EXIT_LIMIT = 5_000;

export class EngineChannel {
  /** Resolves with how the process ended. */
  readonly ended: Promise<string>;
  readonly #options: ChannelOptions;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #end: EngineError | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#child = startProcess(options.account);
    this.#child.on('message', (message) => {
      if (isFromEngine(message)) this.#receive(message);
    });
    const { stderr } = this.#child;
    if (stderr !== null) new ServerLog(stderr, options.log);
    this.ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#fail(new EngineError(`The process that runs Postgres ${how}`));
        resolve(how);
      };
      this.#child.once('error', (error) => end(`could not be run (${error.message})`));
      this.#child.once('exit', (code, signal) => end(`ended with ${signal ?? code}`));
    });
  }

  /** @throws {EngineError} also when the process ends before it answers */
  async call(method: Method, ...args: readonly unknown[]): Promise<unknown> {
    if (this.#end !== undefined) throw this.#end;
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ kind: 'call', id, method, args });
    });
  }

  /** Disconnects the process, which then stops its remaining servers and exits. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), EXIT_LIMIT);
    await this.ended;
    clearTimeout(late);
  }

  #send(message: ToEngine): void {
    // If this fails, the process has ended, and its end rejects the call.
    this.#child.send(message, () => undefined);
  }

  #receive(message: FromEngine): void {
    const { events, log } = this.#options;
    switch (message.kind) {
      case 'result':
        return this.#take(message.id)?.resolve(message.value);
      case 'failed':
        return this.#take(message.id)?.reject(toError(message.failure));
      case 'wake':
        return void this.#wake(message.id, message.computeId);
      case 'activity':
        return events.activity(message.computeId, message.open);
      case 'crashed':
        return events.crashed(message.computeId, message.reason);
      case 'log':
        return log(message.line);
      default:
        return message satisfies never;
    }
  }

  async #wake(id: number, computeId: string): Promise<void> {
    try {
      await this.#options.events.wake(computeId);
      this.#send({ kind: 'woken', id });
    } catch (error) {
      this.#send({ kind: 'woken', id, failure: toFailure(error) });
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #fail(error: EngineError): void {
    this.#end = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

function startProcess(account: Account): ChildProcess {
  const environment: NodeJS.ProcessEnv = { ...serverEnvironment(), ELECTRON_RUN_AS_NODE: '1' };
  // Without the variable, the engine uses the system's temporary folder.
  if (!canWrite(os.tmpdir(), account)) delete environment['TMPDIR'];
  return fork(PROGRAM, [String(account.uid), String(account.gid)], {
    cwd: '/',
    env: environment,
    execArgv: PROGRAM.endsWith('.ts') ? ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'] : [],
    // A separate session, so that Ctrl-C in a terminal reaches only the service.
    detached: true,
    // Standard error is piped: the service's own may be a log file that the engine must not read.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
