/** Section 4.3, and the public service's calls for one compute. */
import { ComputeChangeBody, ComputeCreationBody } from '../../api/records/requests.ts';
import { keptListJson, recordJson, reply } from './reply.ts';
import { readBody } from './requestBody.ts';
import { projectOf, type ControlPlane, type Route } from './routes.ts';

const COMPUTES = '/projects/:project_id/endpoints';
const COMPUTE = `${COMPUTES}/:endpoint_id`;

export const computeRoutes = (plane: ControlPlane): readonly Route[] => [
  ...listRoutes(plane),
  ...recordRoutes(plane),
  action(plane, 'restart'),
  action(plane, 'start'),
  action(plane, 'suspend'),
];

const listRoutes = (plane: ControlPlane): readonly Route[] => [
  {
    method: 'GET',
    path: COMPUTES,
    answer: (call) => ({
      status: 200,
      json: keptListJson('endpoints', projectOf(plane, call).computes.records),
    }),
  },
  {
    method: 'POST',
    path: COMPUTES,
    async answer(call) {
      const project = projectOf(plane, call);
      const { endpoint } = await readBody(call.request, ComputeCreationBody);
      return reply(await plane.computes.create(project, endpoint), 201);
    },
  },
];

const recordRoutes = (plane: ControlPlane): readonly Route[] => [
  {
    method: 'GET',
    path: COMPUTE,
    answer(call) {
      const { record } = plane.computes.find(projectOf(plane, call), call.param('endpoint_id'));
      return { status: 200, json: `{"endpoint":${recordJson(record)}}` };
    },
  },
  {
    method: 'PATCH',
    path: COMPUTE,
    async answer(call) {
      const project = projectOf(plane, call);
      const { endpoint } = await readBody(call.request, ComputeChangeBody);
      return reply(await plane.computes.update(project, call.param('endpoint_id'), endpoint));
    },
  },
  {
    method: 'DELETE',
    path: COMPUTE,
    answer(call) {
      const deleted = plane.computes.delete(projectOf(plane, call), call.param('endpoint_id'));
      return deleted === undefined ? { status: 204, json: undefined } : reply(deleted);
    },
  },
];

const action = (plane: ControlPlane, name: 'restart' | 'start' | 'suspend'): Route => ({
  method: 'POST',
  path: `${COMPUTE}/${name}`,
  answer: (call) => reply(plane.computes[name](projectOf(plane, call), call.param('endpoint_id'))),
});
