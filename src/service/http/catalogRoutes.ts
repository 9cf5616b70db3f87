/** The public service's calls for databases, roles, schemas and connection URIs. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { DatabaseChangeBody, DatabaseCreationBody, RoleCreationBody } from '../../api/records/requests.ts';
import {
  defaultBranch,
  findBranch,
  primaryOf,
  rejectHistoryPosition,
} from '../controlPlane/branches/branchRecord.ts';
import type { BranchTarget } from '../controlPlane/catalog/branchCatalogs.ts';
import { connectionUriOf } from '../controlPlane/catalog/catalogRecords.ts';
import { pooledHost } from '../controlPlane/computeRecord.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { badRequest, notFound } from '../core/errors.ts';
import type { ProjectState } from '../state/store.ts';
import type { BranchRecord, StoredCompute } from '../state/storedRecords.ts';
import { booleanParameter, choiceParameter, queryParameter, requiredParameter } from './query.ts';
import { findProject, readJsonBody, type ApiCall, type Routes } from './request.ts';
import { deletionReply, reply, type JsonReply } from './response.ts';

const PROJECT = '/projects/:project_id';
const BRANCH = `${PROJECT}/branches/:branch_id`;
const DATABASES = `${BRANCH}/databases`;
const DATABASE = `${DATABASES}/:database_name`;
const ROLES = `${BRANCH}/roles`;
const ROLE = `${ROLES}/:role_name`;

export const catalogRoutes = (plane: ControlPlane): Routes => ({
  ...databaseRoutes(plane),
  ...roleRoutes(plane),
  ...schemaRoutes(plane),
  [`GET ${PROJECT}/connection_uri`]: (call) => connectionUri(plane, call),
});

function databaseRoutes(plane: ControlPlane): Routes {
  const { databases } = plane;
  const target = (call: ApiCall) => branchOfCall(plane, call);
  const name = (call: ApiCall) => call.param('database_name');
  return {
    [`GET ${DATABASES}`]: async (call) => reply({ databases: await databases.list(target(call)) }),
    [`POST ${DATABASES}`]: async (call) => {
      const { database } = await readJsonBody(call.request, DatabaseCreationBody);
      return reply(await databases.create(target(call), database.name, database.owner_name), 201);
    },
    [`GET ${DATABASE}`]: async (call) => reply({ database: await databases.find(target(call), name(call)) }),
    [`PATCH ${DATABASE}`]: async (call) => {
      const { database } = await readJsonBody(call.request, DatabaseChangeBody);
      return reply(await databases.update(target(call), name(call), database));
    },
    [`DELETE ${DATABASE}`]: async (call) => deletionReply(await databases.delete(target(call), name(call))),
  };
}

function roleRoutes(plane: ControlPlane): Routes {
  const { roles } = plane;
  const target = (call: ApiCall) => branchOfCall(plane, call);
  const name = (call: ApiCall) => call.param('role_name');
  return {
    [`GET ${ROLES}`]: async (call) => reply({ roles: await roles.list(target(call)) }),
    [`POST ${ROLES}`]: async (call) => {
      const { role } = await readJsonBody(call.request, RoleCreationBody);
      return reply(await roles.create(target(call), role.name, role.no_login !== true), 201);
    },
    [`GET ${ROLE}`]: async (call) => reply({ role: await roles.find(target(call), name(call)) }),
    [`DELETE ${ROLE}`]: async (call) => deletionReply(await roles.delete(target(call), name(call))),
    [`GET ${ROLE}/reveal_password`]: async (call) =>
      reply({ password: await roles.password(target(call), name(call)) }),
    [`POST ${ROLE}/reset_password`]: async (call) =>
      reply(await roles.resetPassword(target(call), name(call))),
  };
}

function schemaRoutes(plane: ControlPlane): Routes {
  return {
    [`GET ${BRANCH}/schema`]: async (call) => {
      rejectHistory(call, ['lsn', 'timestamp']);
      const format = choiceParameter(call, 'format', ['sql', 'json']);
      const database = requiredParameter(call, 'db_name');
      return reply(await plane.catalogs.schema(branchOfCall(plane, call), database, format));
    },
    [`GET ${BRANCH}/compare_schema`]: (call) => compareSchema(plane, call),
  };
}

/** Returns what is different in the branch, compared with its parent or the branch that the caller names. */
async function compareSchema(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  rejectHistory(call, ['lsn', 'timestamp', 'base_lsn', 'base_timestamp']);
  const { project, branchId } = branchOfCall(plane, call);
  const database = requiredParameter(call, 'db_name');
  const baseId = queryParameter(call, 'base_branch_id') ?? findBranch(project, branchId).parent_id;
  if (baseId === undefined) throw badRequest('base_branch_id is required, because the branch has no parent.');
  const sqlOf = async (id: string) =>
    (await plane.catalogs.schema({ project, branchId: id }, database, 'sql')).sql ?? '';
  const [before, after] = [await sqlOf(baseId), await sqlOf(branchId)];
  if (before === after) return reply({ diff: '' });
  const options = { headerOptions: FILE_HEADERS_ONLY };
  const [from, to] = [`a/${database}`, `b/${database}`];
  return reply({ diff: createTwoFilesPatch(from, to, before, after, undefined, undefined, options) });
}

/** @throws {HttpError} 422 */
function rejectHistory(call: ApiCall, names: readonly string[]): void {
  rejectHistoryPosition(Object.fromEntries(names.map((name) => [name, queryParameter(call, name)])));
}

const branchOfCall = ({ store }: ControlPlane, call: ApiCall): BranchTarget => ({
  project: findProject(store.account, call),
  branchId: call.param('branch_id'),
});

/** The reply contains a password, so it is never logged. */
async function connectionUri(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const project = findProject(plane.store.account, call);
  const role = requiredParameter(call, 'role_name');
  const database = requiredParameter(call, 'database_name');
  const compute = selectCompute(
    project,
    queryParameter(call, 'endpoint_id'),
    queryParameter(call, 'branch_id'),
  );
  const host = booleanParameter(call, 'pooled') ? pooledHost(compute) : compute.record.host;
  const branchId = compute.record.branch_id;
  const login = await plane.roles.login({ project, branchId }, role, database);
  return reply({ uri: connectionUriOf(login, host) });
}

/** Defaults to the branch's primary compute, and to the default branch. */
function selectCompute(
  project: ProjectState,
  computeId: string | undefined,
  branchId: string | undefined,
): StoredCompute {
  const branch = branchId === undefined ? undefined : findBranch(project, branchId);
  if (computeId === undefined) return findPrimary(project, branch ?? defaultBranch(project));
  const compute = project.computes.get(computeId);
  if (compute === undefined || (branch !== undefined && compute.record.branch_id !== branch.id))
    throw notFound('compute with the id', computeId);
  return compute;
}

function findPrimary(project: ProjectState, { id }: BranchRecord): StoredCompute {
  const primary = primaryOf(project, id);
  if (primary === undefined) throw notFound('primary read-write compute on branch', id);
  return primary;
}
