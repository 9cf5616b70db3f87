/**
 * A server for the service's own work on a branch: its running primary, or else one that runs for this work only. No client
 * reaches that one, because it listens in the private socket folder and no compute's address leads to it. So the work needs
 * no compute and wakes none.
 */
import type { ServerTools } from '../data/branchData.ts';
import { throwIfClosing } from '../data/atomicDirectory.ts';
import { fixedArguments } from '../config/settings.ts';
import { startServer } from '../process/launchServer.ts';
import type { Postmaster } from '../process/postmaster.ts';

/** CU. */
const SMALLEST_SIZE = 0.25;

/** The caller holds the branch's lock. @throws {EngineError} */
export async function withBranchServer<T>(
  tools: ServerTools,
  branchId: string,
  work: (server: Postmaster) => Promise<T>,
): Promise<T> {
  throwIfClosing(tools.ending);
  const primary = tools.branches.primary(branchId);
  if (primary !== undefined) return work(primary);
  const server = await startPrivately(tools, branchId);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

async function startPrivately(tools: ServerTools, branchId: string): Promise<Postmaster> {
  const dataDir = await tools.branches.ensure(branchId);
  // Recovery and prepared transactions may need as much as the last primary had.
  const settings = tools.branches.standbySettings(branchId) ?? {};
  return startServer(tools, {
    dataDir,
    name: branchId,
    onLine: () => undefined,
    args: (address) =>
      fixedArguments({ id: branchId, minCu: SMALLEST_SIZE }, { address }, [
        ...Object.entries(settings),
        ...(address.folder === undefined ? [] : [['listen_addresses', ''] as const]),
      ]),
  });
}
