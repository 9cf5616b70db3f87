/** API keys and projects (sections 4.1 and 4.2). */
import { ApiKeyCreationBody, ProjectPatchBody, ProjectCreationBody } from '../../api/records/requests.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { toProjectResponse } from '../controlPlane/projectResponse.ts';
import { uncountedUsage, withUncountedUsage } from '../controlPlane/usage.ts';
import { badRequest, notFound } from '../core/httpError.ts';
import type { ProjectState } from '../state/store.ts';
import {
  booleanParameter,
  cursorPosition,
  DEFAULT_PROJECTS,
  MAX_PROJECTS,
  pageSize,
  paginationAfter,
  queryParameter,
  unknownCursor,
} from './query.ts';
import { findProject, readJsonBody, type ApiCall, type Route } from './request.ts';
import { listReply, recordReply, reply, type JsonReply } from './response.ts';

export const accountRoutes = (plane: ControlPlane): readonly Route[] => [
  { method: 'GET', path: '/api_keys', answer: () => reply(plane.keys.list()) },
  { method: 'POST', path: '/api_keys', answer: (call) => createKey(plane, call) },
  { method: 'DELETE', path: '/api_keys/:key_id', answer: (call) => revokeKey(plane, call) },
  { method: 'GET', path: '/projects', answer: (call) => listProjects(plane, call) },
  { method: 'POST', path: '/projects', answer: (call) => createProject(plane, call) },
  { method: 'GET', path: '/projects/:project_id', answer: (call) => showProject(plane, call) },
  { method: 'PATCH', path: '/projects/:project_id', answer: (call) => updateProject(plane, call) },
  { method: 'DELETE', path: '/projects/:project_id', answer: (call) => deleteProject(plane, call) },
];

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
  const limit = pageSize(call, DEFAULT_PROJECTS, MAX_PROJECTS);
  const cursor = cursorPosition(call);
  const isOfDeleted = booleanParameter(call, 'recoverable');
  const all = isOfDeleted ? [] : [...store.account.projects.values()];
  const found = search(all, queryParameter(call, 'search'));
  const start = cursor === undefined ? 0 : found.findIndex(({ record }) => record.id === cursor) + 1;
  if (cursor !== undefined && start === 0) throw unknownCursor();
  const page = found.slice(start, start + limit);
  const usage = uncountedUsage(store.account, clock.now());
  const records = page.map((project) => withUncountedUsage(project, usage.get(project.record.id)));
  const pagination = paginationAfter(page.at(-1)?.record.id ?? cursor);
  return listReply('projects', records, { applications: {}, integrations: {}, ...pagination });
}

function search(projects: readonly ProjectState[], text: string | undefined): readonly ProjectState[] {
  if (text === undefined) return projects;
  const wanted = text.toLowerCase();
  return projects.filter(
    ({ record }) => record.name.toLowerCase().includes(wanted) || record.id.includes(wanted),
  );
}

function showProject(plane: ControlPlane, call: ApiCall): JsonReply {
  const project = findProject(plane.store.account, call);
  return recordReply('project', shownProject(plane, project));
}

const shownProject = ({ store, clock }: ControlPlane, project: ProjectState) =>
  toProjectResponse(
    withUncountedUsage(project, uncountedUsage(store.account, clock.now()).get(project.record.id)),
  );

async function createProject({ projects }: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const body = await readJsonBody(call.request, ProjectCreationBody);
  const { project, ...created } = await projects.create(body.project);
  return reply({ project: toProjectResponse(project), ...created }, 201);
}

async function updateProject(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const { project: wanted } = await readJsonBody(call.request, ProjectPatchBody);
  const project = findProject(plane.store.account, call);
  plane.projects.update(project, wanted);
  return reply({ project: shownProject(plane, project), operations: [] });
}

function deleteProject(plane: ControlPlane, call: ApiCall): JsonReply {
  const project = findProject(plane.store.account, call);
  const shown = shownProject(plane, project);
  plane.projects.delete(project);
  return reply({ project: shown });
}
