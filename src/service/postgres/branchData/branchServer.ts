/** The service's own work on the data of a branch that no compute may be running on. */
import { startInternalServer } from '../server/launchServer.ts';
import type { Postmaster } from '../server/postmaster.ts';
import type { ServerDependencies } from './branchData.ts';
import { keptWalSettings } from '../history/history.ts';

/**
 * Runs the service's own work on a branch with its running primary, or else with a server for such work only, so that it wakes
 * no compute. Clients can't reach that server, because it listens in the private socket folder and no compute's address leads
 * to it. The caller holds or shares the branch's lock. @throws {EngineError}
 */
export async function withBranchServer<T>(
  deps: ServerDependencies,
  branchId: string,
  work: (server: Postmaster) => Promise<T>,
): Promise<T> {
  deps.shutdownSignal.throwIfAborted();
  const primary = deps.branches.primary(branchId);
  if (primary !== undefined) return work(primary);
  const { ownServer } = deps.branches.lock(branchId);
  return ownServer.use(async () => startPrivateServer(deps, branchId), work);
}

async function startPrivateServer(deps: ServerDependencies, branchId: string): Promise<Postmaster> {
  const dataDir = await deps.branches.ensureDataDir(branchId);
  // Recovery and prepared transactions may need as much as the last primary had.
  const settings = deps.branches.standbySettings(branchId);
  return startInternalServer(deps, {
    id: branchId,
    dataDir,
    name: branchId,
    settings: { ...settings, ...keptWalSettings(deps.storage.branch(branchId)) },
  });
}
