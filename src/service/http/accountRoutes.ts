/** The calls about the account itself, its API keys and its projects. */
import { ApiKeyCreationBody, ProjectPatchBody, ProjectCreationBody } from '../../api/records/requests.ts';
import { sizesOfPlan } from '../../api/rules/sizes.ts';
import { historyRetention } from '../controlPlane/records/historyRetention.ts';
import {
  deleteProject,
  listDeletedProjects,
  recoverProject,
} from '../controlPlane/branches/deletedProjects.ts';
import { createProject, updateProject } from '../controlPlane/branches/projects.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { withUsage } from '../controlPlane/records/countUsage.ts';
import { badRequest, notFound } from '../core/serviceErrors.ts';
import type { ProjectState } from '../state/accountState.ts';
import { LOCAL_USER, type ProjectRecord } from '../state/storedRecords.ts';
import { toBranchResponse } from './branchRoutes.ts';
import {
  booleanParameter,
  OLDEST_FIRST,
  paginate,
  paginationField,
  PROJECT_PAGE_LIMITS,
  filterBySearch,
} from './query.ts';
import { findProject, readJsonBody, type ApiCall, type Routes } from './readRequest.ts';
import { jsonReply, type JsonReply } from './response.ts';

/**
 * Returns the routes of the account and its projects. `/projects/shared` comes before `/projects/:project_id`, which also matches
 * that path.
 */
export const accountRoutes = (plane: ControlPlane): Routes => ({
  'GET /auth': () => jsonReply({ account_id: LOCAL_USER.id, auth_method: 'api_key_user' }),
  'GET /users/me': () => jsonReply(currentUser(plane)),
  'GET /users/me/organizations': () => jsonReply({ organizations: [organizationReply(plane)] }),
  'GET /organizations/:org_id': (call) => jsonReply(findOrganization(plane, call)),
  'GET /organizations/:org_id/members': (call) => {
    const { id: org_id, created_at: joined_at } = findOrganization(plane, call);
    const { id, email } = LOCAL_USER;
    return jsonReply({
      members: [{ member: { id, user_id: id, org_id, role: 'admin', joined_at }, user: { email } }],
    });
  },
  'GET /regions': () => jsonReply({ regions: [LOCAL_REGION] }),
  // No other account can share a project with this one.
  'GET /projects/shared': (call) =>
    jsonReply({ projects: paginate(call, [], PROJECT_PAGE_LIMITS, OLDEST_FIRST).records }),
  'GET /api_keys': () => jsonReply(plane.keys.list()),
  'POST /api_keys': async ({ request }) => {
    const { key_name } = await readJsonBody(request, ApiKeyCreationBody);
    return jsonReply(plane.keys.create(key_name));
  },
  'DELETE /api_keys/:key_id': (call) => jsonReply(plane.keys.revoke(parseKeyId(call))),
  'GET /projects': (call) => listProjects(plane, call),
  'POST /projects': async ({ request }) => {
    const body = await readJsonBody(request, ProjectCreationBody);
    const { project, ...created } = await createProject(plane, body.project);
    return jsonReply({ project: toProjectResponse(project), ...created }, 201);
  },
  'GET /projects/:project_id': (call) =>
    jsonReply({ project: presentProject(plane, findProject(plane, call)) }),
  'PATCH /projects/:project_id': async (call) => {
    const { project: patch } = await readJsonBody(call.request, ProjectPatchBody);
    const project = findProject(plane, call);
    const operations = updateProject(plane, project, patch);
    return jsonReply({ project: presentProject(plane, project), operations });
  },
  'DELETE /projects/:project_id': (call) => {
    const project = findProject(plane, call);
    const deleted = presentProject(plane, project);
    deleteProject(plane, project);
    return jsonReply({ project: deleted });
  },
  'POST /projects/:project_id/recover': async (call) => {
    const project = await recoverProject(plane, call.param('project_id'));
    const branches = [...project.branches.values()].map((branch) =>
      toBranchResponse(branch, project, plane.clock.now()),
    );
    return jsonReply({ project: presentProject(plane, project), branches });
  },
});

/** The coordinates are empty, as on the public service for an unknown location. */
const LOCAL_REGION = {
  region_id: 'local',
  name: 'This machine',
  default: true,
  geo_lat: '',
  geo_long: '',
} as const;

/** The value for limits, which the local service lacks: clients compare their counts with these fields. */
const UNLIMITED = 2 ** 31 - 1;

/** Returns the only organization, for clients that list projects by organization only. Calls for projects ignore its id. */
const organizationReply = ({ plan }: ControlPlane) => ({
  id: 'org-local',
  name: LOCAL_USER.name,
  handle: 'local',
  plan,
  managed_by: 'console',
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
});

/** @throws {HttpError} 404 */
function findOrganization(plane: ControlPlane, call: ApiCall) {
  const found = organizationReply(plane);
  if (call.param('org_id') !== found.id) throw notFound('organization with the id', call.param('org_id'));
  return found;
}

const CREATED_AT = '2000-01-01T00:00:00Z';

const currentUser = ({ plan }: ControlPlane) => ({
  ...LOCAL_USER,
  auth_accounts: [],
  plan,
  projects_limit: UNLIMITED,
  branches_limit: UNLIMITED,
  active_seconds_limit: UNLIMITED,
  max_autoscaling_limit: sizesOfPlan(plan).at(-1)?.cu ?? UNLIMITED,
});

/** @throws {HttpError} 400, 404 */
function parseKeyId(call: ApiCall): number {
  const id = call.param('key_id');
  if (/^0\d/.test(id)) throw badRequest('The id of an API key has no leading zeros.');
  if (!/^\d{1,15}$/.test(id)) throw notFound('API key with the id', id);
  return Number(id);
}

/** Lists the projects, or the deleted ones with `recoverable`. Ignores `org_id`, because there is only one organization. */
async function listProjects(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const { store, clock } = plane;
  const { projects: existing } = store.account;
  const records = booleanParameter(call, 'recoverable')
    ? (await listDeletedProjects(plane)).map(({ record, deleted_at, recoverable_until }) => ({
        ...withUsage({ record, computes: new Map() }, clock.now()),
        deleted_at,
        recoverable_until,
      }))
    : [...existing.values()].map(({ record }) => record);
  const page = paginate(
    call,
    filterBySearch<ProjectRecord>(call, records),
    PROJECT_PAGE_LIMITS,
    OLDEST_FIRST,
  );
  const projects = page.records.map((record) => {
    const project = existing.get(record.id);
    return project === undefined ? record : withUsage(project, clock.now());
  });
  return jsonReply({ projects, applications: {}, integrations: {}, ...paginationField(page) });
}

const presentProject = ({ clock }: ControlPlane, project: ProjectState) =>
  toProjectResponse(withUsage(project, clock.now()));

/** The local service has no billing period, so usage counts from the creation of the project and is never reset. */
const PERIOD_END = '9999-12-31T23:59:59Z';

/** Replies about one project name its usage differently than lists do. @param listed the project as lists show it */
function toProjectResponse({ active_time, ...listed }: ProjectRecord) {
  return {
    ...listed,
    active_time_seconds: active_time,
    compute_time_seconds: listed.cpu_used_sec,
    // The local service doesn't measure these bytes.
    written_data_bytes: 0,
    data_transfer_bytes: 0,
    data_storage_bytes_hour: 0,
    history_retention_seconds: historyRetention(listed),
    consumption_period_start: listed.created_at,
    consumption_period_end: PERIOD_END,
  };
}
