/**
 * The calls for databases, roles, schemas and connection URIs, as on the public service, and those of the local one for readers and
 * rehearsals.
 */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { DatabaseChangeBody, DatabaseCreationBody, RoleCreationBody } from '../../api/records/requests.ts';
import { findDefaultBranch, findBranch, requirePrimary } from '../controlPlane/records/branchRecord.ts';
import { parseMoment } from '../controlPlane/records/historyRetention.ts';
import {
  startForReader,
  readRehearsal,
  readSchema,
  startRehearsal,
  type BranchTarget,
} from '../controlPlane/catalog/branchCatalogs.ts';
import { connectionUriOf } from '../controlPlane/catalog/catalogRecords.ts';
import {
  createDatabase,
  deleteDatabase,
  findDatabase,
  listDatabases,
  updateDatabase,
} from '../controlPlane/catalog/databases.ts';
import {
  createRole,
  deleteRole,
  findLogin,
  findRole,
  listRoles,
  resetPassword,
  revealPassword,
} from '../controlPlane/catalog/roles.ts';
import { poolerHost } from '../controlPlane/records/computeRecord.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import type { Moment } from '../core/branchHistory.ts';
import { badRequest, notFound } from '../core/serviceErrors.ts';
import type { ProjectState } from '../state/accountState.ts';
import type { StoredCompute } from '../state/storedRecords.ts';
import { booleanParameter, choiceParameter, queryParameter, requiredParameter } from './query.ts';
import { findProject, readJsonBody, type ApiCall, type Routes } from './readRequest.ts';
import { deletionReply, jsonReply, type JsonReply } from './response.ts';

const PROJECT = '/projects/:project_id';
const BRANCH = `${PROJECT}/branches/:branch_id`;
const DATABASES = `${BRANCH}/databases`;
const DATABASE = `${DATABASES}/:database_name`;
const ROLES = `${BRANCH}/roles`;
const ROLE = `${ROLES}/:role_name`;

export const catalogRoutes = (plane: ControlPlane): Routes => ({
  ...databaseRoutes(plane),
  ...roleRoutes(plane),
  // Only the local service has the calls for readers and rehearsals.
  [`POST ${BRANCH}/reader`]: async (call) =>
    jsonReply({ reader: await startForReader(branchOfCall(plane, call)) }),
  [`POST ${BRANCH}/rehearsal`]: async (call) => {
    await startRehearsal(branchOfCall(plane, call));
    return jsonReply({}, 201);
  },
  [`GET ${BRANCH}/rehearsal`]: async (call) =>
    jsonReply({ rehearsal: await readRehearsal(branchOfCall(plane, call)) }),
  [`GET ${BRANCH}/schema`]: async (call) => {
    const format = choiceParameter(call, 'format', ['sql', 'json']);
    const database = requiredParameter(call, 'db_name');
    return jsonReply(
      await readSchema(branchOfCall(plane, call), database, format, parseMomentOfCall(plane, call)),
    );
  },
  [`GET ${BRANCH}/compare_schema`]: (call) => compareSchema(plane, call),
  [`GET ${PROJECT}/connection_uri`]: (call) => replyWithConnectionUri(plane, call),
});

function databaseRoutes(plane: ControlPlane): Routes {
  const target = (call: ApiCall) => branchOfCall(plane, call);
  const databaseTarget = (call: ApiCall) => [target(call), call.param('database_name')] as const;
  return {
    [`GET ${DATABASES}`]: async (call) => jsonReply({ databases: await listDatabases(target(call)) }),
    [`POST ${DATABASES}`]: async (call) => {
      const { database } = await readJsonBody(call.request, DatabaseCreationBody);
      return jsonReply(await createDatabase(target(call), database.name, database.owner_name), 201);
    },
    [`GET ${DATABASE}`]: async (call) => jsonReply({ database: await findDatabase(...databaseTarget(call)) }),
    [`PATCH ${DATABASE}`]: async (call) => {
      const { database } = await readJsonBody(call.request, DatabaseChangeBody);
      return jsonReply(await updateDatabase(...databaseTarget(call), database));
    },
    [`DELETE ${DATABASE}`]: async (call) => deletionReply(await deleteDatabase(...databaseTarget(call))),
  };
}

function roleRoutes(plane: ControlPlane): Routes {
  const target = (call: ApiCall) => branchOfCall(plane, call);
  const roleTarget = (call: ApiCall) => [target(call), call.param('role_name')] as const;
  return {
    [`GET ${ROLES}`]: async (call) => jsonReply({ roles: await listRoles(target(call)) }),
    [`POST ${ROLES}`]: async (call) => {
      const { role } = await readJsonBody(call.request, RoleCreationBody);
      return jsonReply(
        await createRole(target(call), { name: role.name, canLogin: role.no_login !== true }),
        201,
      );
    },
    [`GET ${ROLE}`]: async (call) => jsonReply({ role: await findRole(...roleTarget(call)) }),
    [`DELETE ${ROLE}`]: async (call) => deletionReply(await deleteRole(...roleTarget(call))),
    [`GET ${ROLE}/reveal_password`]: async (call) =>
      jsonReply({ password: await revealPassword(...roleTarget(call)) }),
    [`POST ${ROLE}/reset_password`]: async (call) => jsonReply(await resetPassword(...roleTarget(call))),
  };
}

/** Returns what is different in the branch, compared with its parent or the branch that the caller names. */
async function compareSchema(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const target = branchOfCall(plane, call);
  const database = requiredParameter(call, 'db_name');
  const baseId =
    queryParameter(call, 'base_branch_id') ?? findBranch(target.project, target.branchId).parent_id;
  if (baseId === undefined) throw badRequest('base_branch_id is required, because the branch has no parent.');
  const moments = [parseMomentOfCall(plane, call, 'base_'), parseMomentOfCall(plane, call)];
  const readSqlOfBranch = async (branchId: string, moment: Moment | undefined) =>
    (await readSchema({ ...target, branchId }, database, 'sql', moment)).sql ?? '';
  const [before, after] = [
    await readSqlOfBranch(baseId, moments[0]),
    await readSqlOfBranch(target.branchId, moments[1]),
  ];
  if (before === after) return jsonReply({ diff: '' });
  const options = { headerOptions: FILE_HEADERS_ONLY };
  const [from, to] = [`a/${database}`, `b/${database}`];
  return jsonReply({ diff: createTwoFilesPatch(from, to, before, after, undefined, undefined, options) });
}

/** @throws {HttpError} 422 */
const parseMomentOfCall = ({ clock }: ControlPlane, call: ApiCall, prefix = ''): Moment | undefined =>
  parseMoment(
    Object.fromEntries(
      ['lsn', 'timestamp'].map((name) => [prefix + name, queryParameter(call, prefix + name)]),
    ),
    clock.now(),
  );

const branchOfCall = (plane: ControlPlane, call: ApiCall): BranchTarget => ({
  plane,
  project: findProject(plane, call),
  branchId: call.param('branch_id'),
});

/** Replies with a connection URI. It contains a password, so the reply is never logged. */
async function replyWithConnectionUri(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const project = findProject(plane, call);
  const role = requiredParameter(call, 'role_name');
  const database = requiredParameter(call, 'database_name');
  const compute = selectCompute(
    project,
    queryParameter(call, 'endpoint_id'),
    queryParameter(call, 'branch_id'),
  );
  const host = booleanParameter(call, 'pooled') ? poolerHost(compute) : compute.record.host;
  const branchId = compute.record.branch_id;
  const login = await findLogin({ plane, project, branchId }, role, database);
  return jsonReply({ uri: connectionUriOf(login, host) });
}

/** Returns the named compute, or else the primary compute of the named branch or of the default branch. @throws {HttpError} */
function selectCompute(
  project: ProjectState,
  computeId: string | undefined,
  branchId: string | undefined,
): StoredCompute {
  const branch = branchId === undefined ? undefined : findBranch(project, branchId);
  if (computeId === undefined) return requirePrimary(project, (branch ?? findDefaultBranch(project)).id);
  const compute = project.computes.get(computeId);
  if (compute === undefined || (branch !== undefined && compute.record.branch_id !== branch.id))
    throw notFound('compute with the id', computeId);
  return compute;
}
