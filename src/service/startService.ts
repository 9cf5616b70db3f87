/** The whole service: opens the data, wires control plane and HTTP server, and closes them again. */
import path from 'node:path';
import { ControlPlane } from './controlPlane/controlPlane.ts';
import { seedAccount } from './controlPlane/seedAccount.ts';
import { delay, type ServiceClock } from './core/serviceClock.ts';
import type { ComputeEngine } from './core/computeEngine.ts';
import { systemReason } from '../base/systemReason.ts';
import { StartError, unusableStartError } from './core/serviceErrors.ts';
import { createListener } from './http/createListener.ts';
import { Leases } from './http/leases.ts';
import { startHttpServer, type HttpServer } from './http/server.ts';
import type { ServiceOptions } from './options.ts';
import { forgetAllData, majorsInUse } from './postgres/storage/storage.ts';
import type { ProjectsFile } from './state/projectsFile.ts';
import { Store } from './state/store.ts';

interface ServiceDependencies {
  readonly options: Pick<
    ServiceOptions,
    'port' | 'apiKey' | 'plan' | 'operationDelay' | 'postgres' | 'endWithLeases'
  >;
  /** The folder for all data. */
  readonly folder: string;
  /** The contents of a new account, instead of the sample. */
  readonly projects: ProjectsFile | undefined;
  readonly engine: Promise<ComputeEngine>;
  readonly clock: ServiceClock;
  /**
   * Requires that this service still has its lock.
   * @throws {StartError} if another service uses the folder now, so that this one may not write to it
   */
  readonly requireLock: () => void;
  /** Receives lines for users. They contain no secret except the first key, which is shown nowhere else. */
  readonly log: (line: string) => void;
  /** Until it resolves, the program that started the service has a lease by the pipe to its standard input. */
  readonly inputEnded?: Promise<void> | undefined;
  /** Called when the service must end. `failure` says that it cannot write its data, and is undefined for any other reason to end. */
  readonly onEnd: (failure: string | undefined) => void;
}

/** A service that has started. */
export interface ServiceHandle {
  readonly baseUrl: string;
  /** Clients that know this secret may hold a lease without a key. */
  readonly leaseSecret: string;
  close(): Promise<void>;
}

/** Milliseconds to wait for the computes' addresses: a long recovery must not delay the API. */
const ATTACHING_TIME = 100;

/** @throws {StartError | EngineError} */
export async function startService(deps: ServiceDependencies): Promise<ServiceHandle> {
  const { options, clock, log, engine } = deps;
  const { plan, operationDelay, postgres: runsPostgres } = options;
  const store = await openStore(deps);
  const plane = new ControlPlane({ store, clock, log, engine, plan, operationDelay, runsPostgres });
  const leases = new Leases({ grace: options.endWithLeases, clock, onEnd: () => deps.onEnd(undefined) });
  if (deps.inputEnded !== undefined) void deps.inputEnded.then(leases.hold(() => undefined));
  let server: HttpServer | undefined;
  const close = async () => {
    leases.close();
    await server?.close();
    await plane.end();
  };
  try {
    addStartupKey(plane, options.apiKey, log);
    await store.whenDurable();
    const onLostChange = (error: unknown) => deps.onEnd(systemReason(error));
    server = await startHttpServer(createListener(plane, leases, onLostChange), options.port).catch(
      (error: unknown) => {
        throw portFailure(options.port, error);
      },
    );
    await Promise.race([plane.begin(), delay(clock, ATTACHING_TIME)]);
    return { baseUrl: server.baseUrl, leaseSecret: leases.secret, close };
  } catch (error) {
    // A second error does not matter: the first one says why the service did not start.
    await close().catch(() => undefined);
    throw error;
  }
}

function portFailure(port: number, error: unknown): StartError {
  const reason = systemReason(error);
  const problem =
    reason === 'EADDRINUSE'
      ? 'another program uses this port. Choose another with --port, or 0 for any free port.'
      : reason;
  return new StartError('portInUse', `Cannot listen on 127.0.0.1:${port}: ${problem}`);
}

async function openStore(deps: ServiceDependencies): Promise<Store> {
  const { options, clock, folder, log, projects, engine } = deps;
  const { plan, postgres: runsPostgres } = options;
  const createAccount = async () => {
    requireNoDatabases(folder);
    forgetAllData(folder);
    return seedAccount({ projects, engine, clock, plan, runsPostgres });
  };
  const store = await Store.open({ folder, seed: createAccount, clock, log, check: deps.requireLock });
  if (!store.isNew && projects !== undefined)
    log(`Ignored ${projects.file}: the data directory already contains an account`);
  return store;
}

/** @throws {StartError} instead of creating an account that knows none of the databases */
function requireNoDatabases(folder: string): void {
  if (majorsInUse(folder).size === 0) return;
  throw unusableStartError(
    `${path.join(folder, 'branches')} has databases, but account.json next to it, which knows them, is missing. ` +
      'Restore account.json from a backup, or move that folder out of the data directory to start with a new account.',
  );
}

/** Adds the key that the service was started with, or else a new one to a new account. */
function addStartupKey(plane: ControlPlane, apiKey: string | undefined, log: (line: string) => void): void {
  if (apiKey === undefined) {
    if (plane.store.isNew) log(`API key (shown only now): ${plane.keys.create('first key').key}`);
    return;
  }
  if (plane.keys.isRevoked(apiKey)) {
    const message =
      'The given API key was revoked and cannot be used again. Pass another with --api-key or --api-key-stdin.';
    throw new StartError('revokedKey', message);
  }
  plane.keys.add('given at start', apiKey);
}
