/** The calls for computes and operations. */
import { ComputePatchBody, ComputeCreationBody } from '../../api/records/requests.ts';
import {
  createCompute,
  deleteCompute,
  findCompute,
  restartCompute,
  startCompute,
  suspendCompute,
  updateCompute,
} from '../controlPlane/computes/computes.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { notFound } from '../core/serviceErrors.ts';
import type { OperationRecord } from '../state/storedRecords.ts';
import type { ProjectState } from '../state/accountState.ts';
import { paginate, paginationField } from './query.ts';
import { findProject, readJsonBody, type ApiCall, type Routes } from './readRequest.ts';
import { deletionReply, jsonReply, type JsonReply } from './response.ts';

const PROJECT = '/projects/:project_id';
const COMPUTES = `${PROJECT}/endpoints`;
const COMPUTE = `${COMPUTES}/:endpoint_id`;
const OPERATIONS = `${PROJECT}/operations`;

export function computeRoutes(plane: ControlPlane): Routes {
  const target = (call: ApiCall) => [findProject(plane, call), call.param('endpoint_id')] as const;
  return {
    [`GET ${COMPUTES}`]: (call) => listComputes(findProject(plane, call)),
    [`POST ${COMPUTES}`]: async (call) => {
      const project = findProject(plane, call);
      const { endpoint } = await readJsonBody(call.request, ComputeCreationBody);
      return jsonReply(await createCompute(plane, project, endpoint), 201);
    },
    [`GET ${COMPUTE}`]: (call) => {
      const { record } = findCompute(...target(call));
      return jsonReply({
        endpoint: { ...record, connections: plane.autosuspend.openConnections(record.id) },
      });
    },
    // Only the local service has this route. A call wakes no compute and doesn't count as activity.
    [`GET ${COMPUTE}/activity`]: async (call) => {
      const [project, id] = target(call);
      findCompute(project, id);
      const operations = newestFirst(project).filter(
        ({ endpoint_id }) => endpoint_id === undefined || endpoint_id === id,
      );
      return jsonReply({ ...(await (await plane.engine).activity(id)), operations });
    },
    // Only the local service has this route.
    [`GET ${COMPUTE}/log`]: async (call) => {
      const { record } = findCompute(...target(call));
      return jsonReply({ lines: await (await plane.engine).serverLog(record.id) });
    },
    [`PATCH ${COMPUTE}`]: async (call) => {
      const [project, id] = target(call);
      const { endpoint } = await readJsonBody(call.request, ComputePatchBody);
      return jsonReply(await updateCompute(plane, project, id, endpoint));
    },
    [`DELETE ${COMPUTE}`]: (call) => deletionReply(deleteCompute(plane, ...target(call))),
    [`POST ${COMPUTE}/restart`]: async (call) => jsonReply(await restartCompute(plane, ...target(call))),
    [`POST ${COMPUTE}/start`]: async (call) => jsonReply(await startCompute(plane, ...target(call))),
    [`POST ${COMPUTE}/suspend`]: (call) => jsonReply(suspendCompute(plane, ...target(call))),
    [`GET ${OPERATIONS}`]: (call) => listOperations(call, findProject(plane, call)),
    [`GET ${OPERATIONS}/:operation_id`]: (call) => showOperation(call, findProject(plane, call)),
  };
}

/** Returns the computes of a project. Clients poll this list, so its bytes are kept until a compute changes. */
function listComputes(project: ProjectState): JsonReply {
  const endpointRecords = () => [...project.computes.values()].map(({ record }) => record);
  project.listOfComputes ??= Buffer.from(JSON.stringify({ endpoints: endpointRecords() }));
  return { status: 200, json: project.listOfComputes };
}

const OPERATION_PAGE_LIMITS = { default: 100, max: 1000 } as const;

const newestFirst = ({ operations }: ProjectState): readonly OperationRecord[] =>
  [...operations.values()].map(({ record }) => record).toReversed();

function listOperations(call: ApiCall, project: ProjectState): JsonReply {
  // If the operation of the cursor is gone, its time says where to continue. This leaves nothing out, because the oldest
  // operations are removed first.
  const order = { key: ({ created_at }: OperationRecord) => created_at, isDescending: true };
  const page = paginate(call, newestFirst(project), OPERATION_PAGE_LIMITS, order);
  return jsonReply({ operations: page.records, ...paginationField(page) });
}

function showOperation(call: ApiCall, { operations }: ProjectState): JsonReply {
  const id = call.param('operation_id');
  const operation = operations.get(id.toLowerCase());
  if (operation === undefined) throw notFound('operation with the id', id);
  return jsonReply({ operation: operation.record });
}
