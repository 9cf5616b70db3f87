/** API keys and projects (sections 4.1 and 4.2). */
import { ApiKeyCreationBody, ProjectPatchBody, ProjectCreationBody } from '../../api/records/requests.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { toProjectResponse } from '../controlPlane/projectResponse.ts';
import { uncountedUsage, withUncountedUsage } from '../controlPlane/usage.ts';
import { badRequest, notFound } from '../core/errors.ts';
import type { ProjectState } from '../state/store.ts';
import { booleanParameter, paginate, paginationOf, PROJECT_PAGES, search } from './query.ts';
import { findProject, readJsonBody, type ApiCall, type Routes } from './request.ts';
import { reply, type JsonReply } from './response.ts';

export const accountRoutes = (plane: ControlPlane): Routes => ({
  'GET /api_keys': () => reply(plane.keys.list()),
  'POST /api_keys': (call) => createKey(plane, call),
  'DELETE /api_keys/:key_id': (call) => revokeKey(plane, call),
  'GET /projects': (call) => listProjects(plane, call),
  'POST /projects': (call) => createProject(plane, call),
  'GET /projects/:project_id': (call) => showProject(plane, call),
  'PATCH /projects/:project_id': (call) => updateProject(plane, call),
  'DELETE /projects/:project_id': (call) => deleteProject(plane, call),
});

async function createKey({ keys }: ControlPlane, { request }: ApiCall): Promise<JsonReply> {
  const { key_name } = await readJsonBody(request, ApiKeyCreationBody);
  return reply(keys.create(key_name));
}

function revokeKey({ keys }: ControlPlane, call: ApiCall): JsonReply {
  const id = call.param('key_id');
  if (/^0\d/.test(id)) throw badRequest('The id of an API key has no leading zeros.');
  if (!/^\d{1,15}$/.test(id)) throw notFound('API key with the id', id);
  return reply(keys.revoke(Number(id)));
}

/** Ignores `org_id`: there is one organization. With `recoverable` there is nothing, because deleted projects are gone. */
function listProjects({ store, clock }: ControlPlane, call: ApiCall): JsonReply {
  const isOfDeleted = booleanParameter(call, 'recoverable');
  const all = isOfDeleted ? [] : [...store.account.projects.values()].map(({ record }) => record);
  const page = paginate(call, search(call, all), PROJECT_PAGES);
  const usage = uncountedUsage(store.account, clock.now());
  const projects = page.records.map((record) => withUncountedUsage(record, usage.get(record.id)));
  return reply({ projects, applications: {}, integrations: {}, ...paginationOf(page) });
}

const showProject = (plane: ControlPlane, call: ApiCall): JsonReply =>
  reply({ project: shownProject(plane, findProject(plane.store.account, call)) });

const shownProject = ({ store, clock }: ControlPlane, { record }: ProjectState) =>
  toProjectResponse(withUncountedUsage(record, uncountedUsage(store.account, clock.now()).get(record.id)));

async function createProject({ projects }: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const body = await readJsonBody(call.request, ProjectCreationBody);
  const { project, ...created } = await projects.create(body.project);
  return reply({ project: toProjectResponse(project), ...created }, 201);
}

async function updateProject(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const { project: patch } = await readJsonBody(call.request, ProjectPatchBody);
  const project = findProject(plane.store.account, call);
  plane.projects.update(project, patch);
  return reply({ project: shownProject(plane, project), operations: [] });
}

function deleteProject(plane: ControlPlane, call: ApiCall): JsonReply {
  const project = findProject(plane.store.account, call);
  const shown = shownProject(plane, project);
  plane.projects.delete(project);
  return reply({ project: shown });
}
