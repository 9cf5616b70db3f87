/** A primary: the only server that runs on its branch's data. */
import { isRestartRequired } from '../../api/records/effects.ts';
import type { ComputeSpec } from '../core/computeEngine.ts';
import type { ServerDependencies } from './branchData/branchData.ts';
import { setPasswordsOfRestored } from './copies/changeBranchData.ts';
import { updateKeptWal } from './copies/replicaCopies.ts';
import { replaceSlotFunctions } from './replication/slotFunctions.ts';
import { launchServer } from './server/launchServer.ts';
import type { Postmaster } from './server/postmaster.ts';
import { standbySettingsOfCompute } from './server/settings.ts';

/** How a compute starts and stops its server. A start rejects with an `EngineError` that has Postgres's own reason. */
export type ServerLifecycle = ReturnType<typeof primaryLifecycle>;

export const primaryLifecycle = (deps: ServerDependencies) => ({
  start: async (compute: ComputeSpec, onLine: (line: string) => void): Promise<Postmaster> =>
    deps.branches.lock(compute.branchId).exclusive(async () => {
      const dataDir = await deps.branches.ensureDataDir(compute.branchId);
      deps.branches.saveStandbySettings(compute.branchId, standbySettingsOfCompute(compute));
      updateKeptWal(deps, compute.branchId);
      const server = await launchServer(deps, { compute, dataDir, name: compute.branchId, onLine });
      await setPasswordsOfRestored(deps, compute.branchId, server).catch((error: unknown) =>
        onLine(`The roles have the passwords of another branch until the next start: ${String(error)}`),
      );
      if (compute.logicalReplication === true)
        await replaceSlotFunctions(deps, server.address).catch((error: unknown) =>
          onLine(`Functions of SQL for replication slots are refused: ${String(error)}`),
        );
      deps.branches.setPrimary(compute.branchId, server);
      return server;
    }),
  stop: async (compute: ComputeSpec, server: Postmaster): Promise<void> =>
    deps.branches.lock(compute.branchId).exclusive(async () => server.stop()),
});

/** Whether the server is stopped to change its compute. */
export function needsServerStop(before: ComputeSpec, after: ComputeSpec): boolean {
  const isStopped = before.branchId !== after.branchId || (after.disabled && !before.disabled);
  return isStopped || isRestartRequired(before, after);
}
