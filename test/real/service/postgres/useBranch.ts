import type { ComputeSpec } from '../../../../src/service/core/computeEngine.ts';
import { startControlPlane, type ControlPlane } from './controlPlane.ts';

export interface UsedBranch {
  readonly service: ControlPlane;
  readonly compute: ComputeSpec;
  /** A connection string for the branch's own login. */
  readonly uri: string;
}

/**
 * Starts a control plane before the tests of the surrounding `describe`, with a compute. Its branch keeps its history if it
 * isn't the default one. The properties are for hooks and tests.
 */
export function useBranch(
  spec: Partial<ComputeSpec> = {},
  options: Parameters<typeof startControlPlane>[0] = {},
): UsedBranch {
  const used: { -readonly [Key in keyof UsedBranch]?: UsedBranch[Key] } = {};
  before(async () => {
    const service = await startControlPlane(options);
    if (spec.branchId !== undefined)
      await service.engine.createBranch({ id: spec.branchId, keepsHistory: true });
    const compute = await service.create(spec);
    Object.assign(used, { service, compute, uri: await service.uri(compute) });
  });
  return used as UsedBranch;
}
