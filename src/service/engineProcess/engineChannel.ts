/** One engine process: start it, call it, receive its events, end it. */
import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import {
  EngineError,
  type ComputeEngine,
  type EngineEvents,
  type EngineFacts,
} from '../core/computeEngine.ts';
import { serverEnvironment } from '../postgres/process/runProgram.ts';
import { ServerLog } from '../postgres/process/serverLog.ts';
import type { UnixAccount } from './unixAccount.ts';
import { Peer } from './peer.ts';

export interface ChannelOptions {
  readonly account: UnixAccount;
  readonly events: EngineEvents;
  readonly log: (line: string) => void;
}

/** The methods of an engine, and `begin` and `empty` (see engineProcess.ts). */
type Method = Exclude<keyof ComputeEngine, keyof EngineFacts> | 'begin' | 'empty';

/** In the source and in a bundle it is next to this file. */
const PROGRAM = path.join(import.meta.dirname, `engineProcess${path.extname(import.meta.filename)}`);

/** For a process that has closed its engine. Milliseconds. */
const EXIT_LIMIT = 5_000;

export class EngineChannel {
  /** Resolves with how the process ended. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #peer: Peer;

  constructor(options: ChannelOptions) {
    this.#child = startProcess(options.account);
    this.#peer = new Peer(this.#child, (method, args) => handle(options, method, args));
    const { stderr } = this.#child;
    if (stderr !== null) new ServerLog(stderr, options.log);
    this.ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#peer.fail(new EngineError(`The process that runs Postgres ${how}`));
        resolve(how);
      };
      this.#child.once('error', (error) => end(`could not be run (${error.message})`));
      this.#child.once('exit', (code, signal) => end(`ended with ${signal ?? code}`));
    });
  }

  /** @throws {EngineError} also when the process ends before it answers */
  async call(method: Method, ...args: readonly unknown[]): Promise<unknown> {
    return this.#peer.call(method, ...args);
  }

  /** Disconnects the process, which then stops its remaining servers and exits. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), EXIT_LIMIT);
    await this.ended;
    clearTimeout(late);
  }
}

/** Handles a call from the engine. It is not trusted, so only these are possible, and their arguments are checked. */
function handle({ events, log }: ChannelOptions, method: string, [text, value]: readonly unknown[]): unknown {
  if (typeof text !== 'string') return undefined;
  if (method === 'wake') return events.wake(text);
  if (method === 'activity' && typeof value === 'number') events.activity(text, value);
  if (method === 'crashed' && typeof value === 'string') events.crashed(text, value);
  if (method === 'log') log(text);
  return undefined;
}

function startProcess(account: UnixAccount): ChildProcess {
  const environment: NodeJS.ProcessEnv = { ...serverEnvironment(), ELECTRON_RUN_AS_NODE: '1' };
  // The account may have no access to root's. Without it, the engine uses the system's temporary folder.
  delete environment['TMPDIR'];
  return fork(PROGRAM, [String(account.uid), String(account.gid)], {
    cwd: '/',
    env: environment,
    execArgv: [],
    // A separate session, so that Ctrl-C in a terminal reaches only the service.
    detached: true,
    // Standard error is piped: the service's may be a log file that the engine must not read.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
