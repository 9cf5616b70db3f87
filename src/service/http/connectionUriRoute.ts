/** The public service's connection-URI call. Its reply holds a password: it is never logged and never cached. */
import type { ProjectState } from '../state/account.ts';
import { conflict, notFound } from '../core/httpError.ts';
import type { ComputeRecord } from '../state/storedRecords.ts';
import { booleanOf, requiredQuery } from './pagination.ts';
import { reply, type Reply } from './reply.ts';
import { projectOf, type Call, type ControlPlane, type Route } from './routes.ts';

export const connectionUriRoute = (plane: ControlPlane): Route => ({
  method: 'GET',
  path: '/projects/:project_id/connection_uri',
  answer: (call) => connectionUri(plane, call),
});

async function connectionUri(plane: ControlPlane, call: Call): Promise<Reply> {
  const project = projectOf(plane, call);
  const role = requiredQuery(call, 'role_name');
  const database = requiredQuery(call, 'database_name');
  const compute = wantedCompute(project, call.query('endpoint_id'), call.query('branch_id'));
  const host = booleanOf(call, 'pooled') ? poolerHost(compute) : compute.host;
  const engine = await plane.engine;
  const login = await engine.login(compute.branch_id, role, database);
  if (login === undefined) {
    throw notFound(
      `role with a database of that name on branch ${compute.branch_id}:`,
      `${role} / ${database}`,
    );
  }
  const user = `${encodeURIComponent(login.role)}:${encodeURIComponent(login.password)}`;
  return reply({ uri: `postgresql://${user}@${host}/${encodeURIComponent(login.database)}` });
}

/** Without a compute the branch's primary is meant, without a branch the default one's. */
function wantedCompute(
  project: ProjectState,
  computeId: string | undefined,
  branchId: string | undefined,
): ComputeRecord {
  const branch = branchId ?? [...project.branches.values()].find((each) => each.default)?.id ?? '';
  if (branchId !== undefined && !project.branches.has(branch)) throw notFound('branch with the id', branch);
  const records = [...project.computes.values()].map(({ record }) => record);
  if (computeId === undefined) {
    const primary = records.find((record) => record.branch_id === branch && record.type === 'read_write');
    if (primary === undefined) throw notFound('primary read-write compute on branch', branch);
    return primary;
  }
  const compute = records.find((record) => record.id === computeId);
  if (compute === undefined || (branchId !== undefined && compute.branch_id !== branchId)) {
    throw notFound('compute with the id', computeId);
  }
  return compute;
}

function poolerHost(compute: ComputeRecord): string {
  if (compute.pooler_host === undefined)
    throw conflict(`Pooled connections are not enabled on compute ${compute.id}.`);
  return compute.pooler_host;
}
