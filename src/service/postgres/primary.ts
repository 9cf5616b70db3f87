/** A primary: the one server that runs on its branch's own data. */
import type { ComputeSpec } from '../core/computeEngine.ts';
import type { Postmaster } from './process/postmaster.ts';
import type { ServerTools } from './data/branchData.ts';
import { addressOf } from './network/serverAddress.ts';
import { launchServer } from './process/launchServer.ts';

export interface PrimaryOptions {
  readonly tools: ServerTools;
  /** The servers of the branch's read replicas that run now. */
  readonly replicasOf: (branchId: string) => readonly Postmaster[];
}

export class Primary {
  readonly #options: PrimaryOptions;

  constructor(options: PrimaryOptions) {
    this.#options = options;
  }

  /** @throws {EngineError} with Postgres's own reason */
  async start(compute: ComputeSpec, onLine: (line: string) => void): Promise<Postmaster> {
    const { tools, replicasOf } = this.#options;
    return tools.branches.inTurn(compute.branchId, async () => {
      const dataDir = await tools.branches.ensure(compute.branchId);
      const address = await addressOf(tools.storage, compute.branchId);
      const server = await launchServer(tools, { compute, dataDir, address, onLine });
      tools.branches.serve(compute.branchId, server);
      // A standby that waits for its next try looks for its primary at once.
      for (const replica of replicasOf(compute.branchId)) replica.reload();
      return server;
    });
  }

  async stop(compute: ComputeSpec, server: Postmaster): Promise<void> {
    await this.#options.tools.branches.inTurn(compute.branchId, async () => server.stop());
  }
}
