import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { READER } from '../../../../../src/service/core/systemNames.ts';
import type { BranchLogin } from '../../../../../src/extension/connection/sqlSession.ts';
import type { ControlPlane } from '../../../service/postgres/controlPlane.ts';

/** The login that reads on the branch of a compute, as the extension gets it from the service. */
export async function readerOf(
  { engine }: Pick<ControlPlane, 'engine'>,
  { id, branchId, address }: ComputeSpec,
  database = 'app',
): Promise<BranchLogin> {
  const password = await engine.startForReader(branchId, id);
  return { host: `127.0.0.1:${address.port}`, role: READER, password, database, readsFor: 'app_owner' };
}
