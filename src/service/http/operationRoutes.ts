/** The public service's calls for operations, newest first. */
import { notFound } from '../core/httpError.ts';
import { cursorOf, encodeCursor, limitOf, unknownCursor } from './pagination.ts';
import { listJson, recordJson, type Reply } from './reply.ts';
import { projectOf, type Call, type ControlPlane, type Route } from './routes.ts';

const DEFAULT_PAGE = 100;
const LARGEST_PAGE = 1000;

export const operationRoutes = (plane: ControlPlane): readonly Route[] => [
  { method: 'GET', path: '/projects/:project_id/operations', answer: (call) => list(plane, call) },
  {
    method: 'GET',
    path: '/projects/:project_id/operations/:operation_id',
    answer(call) {
      const id = call.param('operation_id');
      const operation = projectOf(plane, call).operations.get(id.toLowerCase());
      if (operation === undefined) throw notFound('operation with the id', id);
      return { status: 200, json: `{"operation":${recordJson(operation.record)}}` };
    },
  },
];

function list(plane: ControlPlane, call: Call): Reply {
  const project = projectOf(plane, call);
  const limit = limitOf(call, DEFAULT_PAGE, LARGEST_PAGE);
  const cursor = cursorOf(call);
  if (cursor !== undefined && !/^(?:0|[1-9]\d*)$/.test(cursor)) throw unknownCursor();
  const before = cursor === undefined ? Infinity : Number(cursor);
  const older = [...project.operations.values()].filter(({ sequence }) => sequence < before).toReversed();
  const page = older.slice(0, limit);
  const last = page.at(-1)?.sequence.toString() ?? cursor;
  const pagination = last === undefined ? {} : { pagination: { cursor: encodeCursor(last) } };
  const records = page.map(({ record }) => record);
  return { status: 200, json: listJson('operations', records, pagination) };
}
