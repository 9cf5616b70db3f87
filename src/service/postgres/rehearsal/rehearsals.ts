/** Starts and reads the observers of servers on which a migration is rehearsed. */
import type net from 'node:net';
import type { Rehearsal } from '../../../api/records/rehearsal.ts';
import { asEngineError, EngineError } from '../../core/computeEngine.ts';
import type { Rehearsals } from '../../core/rehearsals.ts';
import { isUnchangedSince } from '../copies/endOfWal.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { pipeBothWays } from '../network/sockets.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { RehearsalObserver } from './rehearsalObserver.ts';

const starting = new WeakMap<Postmaster, Promise<void>>();
const observers = new WeakMap<Postmaster, RehearsalObserver>();

/** Returns the calls of an engine for rehearsals. @param wake starts a compute */
export const rehearsalMethods = (
  deps: ServerDependencies,
  wake: (computeId: string) => Promise<void>,
): Rehearsals => ({
  async startRehearsal(branchId, primaryId) {
    const { branches } = deps;
    if (branches.primary(branchId) === undefined) await wake(primaryId);
    const server = branches.primary(branchId);
    if (server === undefined) throw new EngineError(`Compute ${primaryId} does not run`);
    const started = starting.get(server) ?? startObserver(deps, server, branches.folder(branchId));
    starting.set(server, started);
    await started.catch((error: unknown) => {
      starting.delete(server);
      throw asEngineError(error);
    });
  },
  rehearsal: async (branchId) => readRehearsal(deps.branches.primary(branchId)),
  isUnchangedSince: async (branchId, lsn) =>
    isUnchangedSince(deps, branchId, lsn).catch((error: unknown) => {
      throw asEngineError(error);
    }),
});

async function startObserver(deps: ServerDependencies, server: Postmaster, dataDir: string): Promise<void> {
  const observer = await RehearsalObserver.start(deps, server, dataDir);
  observers.set(server, observer);
  void server.ended.then(async () => observer.end().catch(() => undefined));
}

/** @throws {EngineError} if no rehearsal was started while this server runs */
async function readRehearsal(server: Postmaster | undefined): Promise<Rehearsal> {
  const observer = server && observers.get(server);
  if (observer === undefined)
    throw new EngineError(
      'No rehearsal runs on this branch, or its compute was stopped since. Start it again',
    );
  return observer.read();
}

/** Connects a client to a server, and reads along if a migration is rehearsed there. */
export function connectClient(server: Postmaster | undefined, client: net.Socket, socket: net.Socket): void {
  const observer = server && observers.get(server);
  if (observer === undefined) pipeBothWays(client, socket);
  else observer.connect(client, socket);
}
