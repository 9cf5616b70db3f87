/** The service as a whole, from opened data to an address that answers, and back to nothing. */
import { newLeaseSecret } from '../api/leaseProof.ts';
import { newKeyValue } from './controlPlane/apiKeys.ts';
import type { Clock } from './core/clock.ts';
import type { ComputeEngine } from './core/computeEngine.ts';
import { ControlPlane } from './controlPlane/controlPlane.ts';
import { seedAccount } from './controlPlane/seedAccount.ts';
import { baseUrlAt, createListener } from './http/app.ts';
import { listen, type HttpServer } from './http/server.ts';
import { Leases } from './http/lease.ts';
import type { ServiceOptions } from './options.ts';
import { StartFailure, systemReason } from './core/systemReason.ts';
import { NotDurable } from './state/journal.ts';
import { journalFile, Store } from './state/store.ts';

export interface ServiceParts {
  readonly options: Omit<ServiceOptions, 'dataDir' | 'apiKeyFromStdin' | 'postgresPath'>;
  readonly folder: string;
  readonly engine: Promise<ComputeEngine>;
  readonly clock: Clock;
  /** Takes a line for people; never a secret but the first key, which has no other way out. */
  readonly log: (line: string) => void;
  /** It wants to end: nobody holds a lease any more (undefined), or its data cannot be written. */
  readonly onEnd: (failure: string | undefined) => void;
}

export interface Service {
  readonly baseUrl: string;
  /** New at each start; who knows it may hold a lease without a key. See `leaseProof.ts`. */
  readonly leaseSecret: string;
  /** Whether the account was there before. */
  readonly isNew: boolean;
  close(): Promise<void>;
}

/** How long to wait for the computes' addresses: a long recovery must not keep the service from answering. */
const ATTACHING_TIME = 100;

/** @throws {StartFailure} */
export async function startService(parts: ServiceParts): Promise<Service> {
  const { options, clock, folder, log } = parts;
  const store = await openStore(parts).catch((error: unknown) => {
    throw asStartFailure(folder, error);
  });
  const plane = new ControlPlane({ options, store, clock, log, engine: parts.engine });
  const leases = new Leases({ grace: options.endWithLeases, onNoneLeft: () => parts.onEnd(undefined) });
  const leaseSecret = newLeaseSecret();
  let server: HttpServer | undefined;
  const close = async () => {
    leases.close();
    await server?.close();
    await plane.end();
  };
  try {
    giveKey(plane, options.apiKey, log);
    await store.whenDurable();
    const onUnexpected = (what: string, error: unknown) => plane.logUnexpected(what, error);
    server = await listen(createListener({ plane, leases, leaseSecret, onUnexpected }), options.port);
    await Promise.race([plane.begin(), clock.delay(ATTACHING_TIME, new AbortController().signal)]);
    return { baseUrl: baseUrlAt(server.port), leaseSecret, isNew: store.found === undefined, close };
  } catch (error) {
    // What cannot be written cannot be closed well either; why it did not start is what counts.
    await close().catch(() => undefined);
    throw error instanceof NotDurable ? cannotWrite(folder, error.cause) : error;
  }
}

const cannotWrite = (folder: string, error: unknown): StartFailure =>
  new StartFailure('dataDirectory', `Cannot write to ${journalFile(folder)}: ${systemReason(error)}`);

function asStartFailure(folder: string, error: unknown): unknown {
  const fail = (message: string) => new StartFailure('dataDirectory', message);
  // Of the engine, which a new account asks for its addresses: the message names the file.
  if (error instanceof Error && error.name === 'EngineError') return fail(error.message);
  if (!isSystemError(error)) return error;
  // The system's message names the file it could not open, but not one that was open already: that is the journal.
  return 'path' in error
    ? fail(`Cannot use the data directory ${folder}: ${error.message}`)
    : fail(`Cannot use ${journalFile(folder)}: ${systemReason(error)}`);
}

const revokedKey = (): StartFailure =>
  new StartFailure(
    'revokedKey',
    'The API key given at the start was revoked, which is for good. Give another one (--api-key or --api-key-stdin).',
  );

const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && 'errno' in error && 'syscall' in error;

async function openStore(parts: ServiceParts): Promise<Store> {
  const { options, clock, folder, log } = parts;
  const store = await Store.open({
    folder,
    firstAccount: async () =>
      seedAccount({
        projectsFile: options.projectsFile,
        engine: await parts.engine,
        clock,
        plan: options.plan,
        hasProcesses: options.postgres,
      }),
    onFailure: (error) => parts.onEnd(cannotWrite(folder, error).message),
  });
  if (store.found !== undefined && store.found.tornBytes > 0) {
    log(`Left out ${store.found.tornBytes} bytes of a change that an earlier run did not finish writing`);
  }
  if (store.found !== undefined && options.projectsFile !== undefined) {
    log(`${folder} holds an account already, so ${options.projectsFile} was not read`);
  }
  return store;
}

function giveKey(plane: ControlPlane, given: string | undefined, log: (line: string) => void): void {
  if (given !== undefined) {
    if (plane.keys.isRevoked(given)) throw revokedKey();
    plane.keys.add('given at start', given);
    return;
  }
  if (plane.store.found !== undefined) return;
  const value = newKeyValue();
  plane.keys.add('first key', value);
  log(`API key (shown only now): ${value}`);
}
