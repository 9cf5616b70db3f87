/** A primary: the only server that runs on its branch's data. */
import type { ServerRole } from './compute.ts';
import { standbySettings } from './config/settings.ts';
import type { ServerTools } from './data/branchData.ts';
import { launchServer } from './process/launchServer.ts';
import { keepWalForReplicas } from './replica/seed.ts';

export const primaryRole = (tools: ServerTools): ServerRole => ({
  start: async (compute, onLine) =>
    tools.branches.withLock(compute.branchId, async () => {
      const dataDir = await tools.branches.ensure(compute.branchId);
      const settings = standbySettings(compute);
      tools.branches.saveStandbySettings(compute.branchId, settings);
      keepWalForReplicas(tools, compute.branchId);
      const server = await launchServer(tools, { compute, dataDir, name: compute.branchId, onLine });
      tools.branches.setPrimary(compute.branchId, server, settings);
      return server;
    }),
  stop: async (compute, server) => tools.branches.withLock(compute.branchId, async () => server.stop()),
});
