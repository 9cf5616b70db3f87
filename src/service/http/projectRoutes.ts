/** Section 4.2, and what the public service tells of one project and its branches. */
import type { ProjectState } from '../state/account.ts';
import { withUncountedSeconds, uncountedSeconds } from '../controlPlane/usage.ts';
import { cursorOf, encodeCursor, limitOf, unknownCursor } from './pagination.ts';
import { listJson, recordJson, type Reply } from './reply.ts';
import { projectOf, type Call, type ControlPlane, type Route } from './routes.ts';

const DEFAULT_PAGE = 10;
const LARGEST_PAGE = 400;

export const projectRoutes = (plane: ControlPlane): readonly Route[] => [
  { method: 'GET', path: '/projects', answer: (call) => listProjects(plane, call) },
  {
    method: 'GET',
    path: '/projects/:project_id',
    answer(call) {
      const project = projectOf(plane, call);
      const seconds = uncountedSeconds(plane.store.account, plane.clock.now()).get(project.record.id);
      return { status: 200, json: `{"project":${recordJson(withUncountedSeconds(project, seconds))}}` };
    },
  },
  {
    method: 'GET',
    path: '/projects/:project_id/branches',
    answer: (call) => ({
      status: 200,
      json: listJson('branches', [...projectOf(plane, call).branches.values()]),
    }),
  },
];

/** `org_id` is accepted and means nothing: the account here is a personal one. */
function listProjects({ store, clock }: ControlPlane, call: Call): Reply {
  const limit = limitOf(call, DEFAULT_PAGE, LARGEST_PAGE);
  const cursor = cursorOf(call);
  const found = matching([...store.account.projects.values()], call.query('search'));
  const start = cursor === undefined ? 0 : found.findIndex(({ record }) => record.id === cursor) + 1;
  if (cursor !== undefined && start === 0) throw unknownCursor();
  const page = found.slice(start, start + limit);
  const seconds = uncountedSeconds(store.account, clock.now());
  const records = page.map((project) => withUncountedSeconds(project, seconds.get(project.record.id)));
  // As on the public service the last page carries a cursor too: its end shows by its length.
  const last = page.at(-1)?.record.id ?? cursor;
  const pagination = last === undefined ? {} : { pagination: { cursor: encodeCursor(last) } };
  return { status: 200, json: listJson('projects', records, pagination) };
}

function matching(projects: readonly ProjectState[], search: string | undefined): readonly ProjectState[] {
  if (search === undefined) return projects;
  const wanted = search.toLowerCase();
  return projects.filter(
    ({ record }) => record.name.toLowerCase().includes(wanted) || record.id.includes(wanted),
  );
}
