/** The calls that create, change and delete projects, and the records of new projects. */
import type { ProjectPatch, ProjectCreation } from '../../../api/records/requests.ts';
import { toTimestamp } from '../../core/serviceClock.ts';
import type { BranchOwner } from '../../core/computeEngine.ts';
import { unprocessable } from '../../core/serviceErrors.ts';
import type { ProjectDescription } from '../../state/projectsFile.ts';
import type { ProjectState } from '../../state/accountState.ts';
import {
  CREATION_SOURCE,
  LOCAL_USER,
  type Mutation,
  type OperationRecord,
  type ProjectRecord,
} from '../../state/storedRecords.ts';
import { rejectReservedName } from '../catalog/branchCatalogs.ts';
import { catalogRecords } from '../catalog/catalogRecords.ts';
import { PROVISIONER, requirePostgres, requireValidCreation } from '../records/computeRecord.ts';
import {
  allocateForCompute,
  beginRestart,
  findCompute,
  openComputeAddresses,
  newPendingCompute,
} from '../computes/computes.ts';
import { generateId } from '../records/generateId.ts';
import { branchTask, newStartTask } from '../records/operationRecord.ts';
import type { ControlPlaneContext } from '../operations/operations.ts';
import { newBranch } from '../records/branchRecord.ts';
import { newBranchId } from './branches.ts';
import { isHistoryKept } from '../records/historyRetention.ts';

const DEFAULT_BRANCH = 'main';
const PRIMARY = { type: 'read_write' } as const;

/** Creates a project with a default branch and its primary compute. */
export async function createProject(plane: ControlPlaneContext, creation: ProjectCreation) {
  const { store, operations, clock, plan } = plane;
  const { name: branchName = DEFAULT_BRANCH, ...names } = creation.branch ?? {};
  const owner = requestedOwner(names);
  const engine = await plane.engine;
  requirePostgres(engine);
  const now = clock.now();
  const id = generateId('', (taken) => store.account.hasProject(taken));
  const project = newProject(id, creation, engine.pgVersion, now);
  requireValidCreation(project, PRIMARY, plan);
  const basics = { id: newBranchId(plane), project_id: id, name: branchName, default: true };
  const branch = newBranch(basics, now);
  const keepsHistory = isHistoryKept({ record: project }, branch);
  const endpoint = { ...PRIMARY, branch_id: branch.id };
  const compute = newPendingCompute(
    plane,
    project,
    endpoint,
    await allocateForCompute(engine, store.account),
  );
  const started = operations.begin(
    id,
    [branchTask(branch, { kind: 'createBranch', keepsHistory, owner }), newStartTask(compute)],
    [
      { set: 'project', value: project },
      { set: 'branch', value: branch },
      { set: 'compute', value: compute },
    ],
  );
  // `prepareBranch` creates the password, so the project must be on disk first.
  await store.whenDurable();
  await openComputeAddresses(engine, [compute]);
  const catalog = await engine.prepareBranch({ id: branch.id, owner });
  const endpoints = [compute.record];
  return { project, branch, endpoints, operations: started, ...catalogRecords(branch, catalog, [compute]) };
}

/** Changes a project. @returns the operations that restart computes */
export function updateProject(
  plane: ControlPlaneContext,
  { record, computes }: ProjectState,
  patch: ProjectPatch,
): readonly OperationRecord[] {
  const {
    name = record.name,
    default_endpoint_settings = record.default_endpoint_settings ?? {},
    history_retention_seconds = record.history_retention_seconds,
  } = patch;
  const project: ProjectRecord = {
    ...record,
    name,
    default_endpoint_settings,
    history_retention_seconds,
    settings: updatedSettings(record, patch),
    updated_at: toTimestamp(plane.clock.now()),
  };
  if (patch.default_endpoint_settings !== undefined) requireValidCreation(project, PRIMARY, plane.plan);
  // Servers must be restarted to begin logical replication.
  const beginsReplication = isReplicated(project) && !isReplicated(record);
  const changed = beginsReplication ? [...computes.values()] : [];
  for (const { record: compute } of changed) plane.operations.requireFree(compute.id);
  plane.store.commit(
    { set: 'project', value: project },
    ...changed.map((compute): Mutation => ({
      set: 'compute',
      value: { ...compute, logicalReplication: true },
    })),
  );
  return changed
    .filter(({ record: compute }) => compute.current_state === 'active')
    .flatMap(({ record: { id } }) => {
      const compute = findCompute(plane.store.account.project(project.id), id);
      return beginRestart(plane, compute).operations;
    });
}

const isReplicated = ({ settings }: Pick<ProjectRecord, 'settings'>): boolean =>
  settings?.enable_logical_replication === true;

/** @throws {HttpError} 422 to turn off what stays on */
function updatedSettings(record: ProjectRecord, { settings }: ProjectPatch): ProjectRecord['settings'] {
  if (isReplicated(record) && settings?.enable_logical_replication === false)
    throw unprocessable(
      'enable_logical_replication: once it is enabled, logical replication cannot be disabled.',
    );
  return settings === undefined ? record.settings : { ...record.settings, ...settings };
}

/**
 * Returns the role and database that a request names; undefined for the default ones. A database without a role gets the owner
 * `<name>_owner`.
 * @throws {HttpError} 422 for a reserved name
 */
function requestedOwner(branch: {
  role_name?: string | undefined;
  database_name?: string | undefined;
}): BranchOwner | undefined {
  const { role_name, database_name } = branch;
  if (role_name === undefined && database_name === undefined) return undefined;
  const database = database_name ?? 'app';
  const role = role_name ?? `${database}_owner`;
  rejectReservedName('role', role);
  rejectReservedName('database', database);
  return { role, database };
}

/** The version of projects that name none, if there is no Postgres. */
const DEFAULT_PG_VERSION = 18;

/** The `branch_logical_size_limit` of projects that name none, in MiB. */
const BRANCH_SIZE_LIMIT = 204_800;

/** Returns the record of a project. @param pgVersion the major version of the engine; undefined without Postgres */
export function projectRecord(
  { id, name, ...description }: Omit<ProjectDescription, 'branches'>,
  pgVersion: number | undefined,
  now: number,
): ProjectRecord {
  const branch_logical_size_limit = description.branch_logical_size_limit ?? BRANCH_SIZE_LIMIT;
  return {
    id,
    name,
    platform_id: description.platform_id ?? 'local',
    region_id: description.region_id ?? 'local',
    provisioner: description.provisioner ?? PROVISIONER,
    pg_version: description.pg_version ?? pgVersion ?? DEFAULT_PG_VERSION,
    cpu_used_sec: description.cpu_used_sec ?? 0,
    locked: false,
    branch_logical_size_limit,
    branch_logical_size_limit_bytes: branch_logical_size_limit * 1024 * 1024,
    store_passwords: true,
    active_time: 0,
    creation_source: CREATION_SOURCE,
    owner_id: LOCAL_USER.id,
    proxy_host: '127.0.0.1',
    created_at: description.created_at ?? toTimestamp(now),
    updated_at: description.created_at ?? toTimestamp(now),
  };
}

/** Returns the record of a project that a call creates. @throws {HttpError} 422 */
function newProject(
  id: string,
  creation: ProjectCreation,
  pgVersion: number | undefined,
  now: number,
): ProjectRecord {
  const { autoscaling_limit_min_cu, autoscaling_limit_max_cu, pg_version, history_retention_seconds } =
    creation;
  if (pgVersion !== undefined && pg_version !== undefined && pg_version !== pgVersion)
    throw unprocessable(`pg_version: this service runs Postgres ${pgVersion}.`);
  const size = { autoscaling_limit_min_cu, autoscaling_limit_max_cu };
  const { region_id, provisioner, name = id } = creation;
  return {
    ...projectRecord({ id, name, region_id, provisioner, pg_version }, pgVersion, now),
    default_endpoint_settings: { ...size, ...creation.default_endpoint_settings },
    history_retention_seconds,
    settings: creation.settings,
  };
}
