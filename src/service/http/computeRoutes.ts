/** Computes (section 4.3), and the public service's calls for operations. */
import { ComputePatchBody, ComputeCreationBody } from '../../api/records/requests.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { notFound } from '../core/errors.ts';
import type { ProjectState } from '../state/store.ts';
import { paginate, paginationOf } from './query.ts';
import { findProject, readJsonBody, type ApiCall, type Routes } from './request.ts';
import { deletionReply, reply, type JsonReply } from './response.ts';

const PROJECT = '/projects/:project_id';
const COMPUTES = `${PROJECT}/endpoints`;
const COMPUTE = `${COMPUTES}/:endpoint_id`;
const OPERATIONS = `${PROJECT}/operations`;

export const computeRoutes = (plane: ControlPlane): Routes => ({
  [`GET ${COMPUTES}`]: (call) => listComputes(plane, call),
  [`POST ${COMPUTES}`]: (call) => createCompute(plane, call),
  [`GET ${COMPUTE}`]: (call) => showCompute(plane, call),
  [`PATCH ${COMPUTE}`]: (call) => updateCompute(plane, call),
  [`DELETE ${COMPUTE}`]: (call) => removeCompute(plane, call),
  [`POST ${COMPUTE}/restart`]: (call) => changeCompute(plane, call, 'restart'),
  [`POST ${COMPUTE}/start`]: (call) => changeCompute(plane, call, 'start'),
  [`POST ${COMPUTE}/suspend`]: (call) => changeCompute(plane, call, 'suspend'),
  [`GET ${OPERATIONS}`]: (call) => listOperations(plane, call),
  [`GET ${OPERATIONS}/:operation_id`]: (call) => showOperation(plane, call),
});

const targetCompute = (
  { store }: ControlPlane,
  call: ApiCall,
): [project: ProjectState, computeId: string] => [
  findProject(store.account, call),
  call.param('endpoint_id'),
];

const computeLists = new WeakMap<ProjectState, { readonly version: number; readonly json: Buffer }>();

/** Clients poll this list, so its bytes are kept until a compute changes. */
function listComputes({ store }: ControlPlane, call: ApiCall): JsonReply {
  const project = findProject(store.account, call);
  const { computes, computesVersion: version } = project;
  let list = computeLists.get(project);
  if (list?.version !== version) {
    const endpoints = [...computes.values()].map(({ record }) => record);
    list = { version, json: Buffer.from(JSON.stringify({ endpoints })) };
    computeLists.set(project, list);
  }
  return { status: 200, json: list.json };
}

async function createCompute({ store, computes }: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const project = findProject(store.account, call);
  const { endpoint } = await readJsonBody(call.request, ComputeCreationBody);
  return reply(await computes.create(project, endpoint), 201);
}

function showCompute(plane: ControlPlane, call: ApiCall): JsonReply {
  const { record } = plane.computes.find(...targetCompute(plane, call));
  return reply({ endpoint: { ...record, connections: plane.connections(record.id) } });
}

async function updateCompute(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const [project, id] = targetCompute(plane, call);
  const { endpoint } = await readJsonBody(call.request, ComputePatchBody);
  return reply(await plane.computes.update(project, id, endpoint));
}

const changeCompute = async (
  plane: ControlPlane,
  call: ApiCall,
  action: 'restart' | 'start' | 'suspend',
): Promise<JsonReply> => reply(await plane.computes[action](...targetCompute(plane, call)));

const removeCompute = (plane: ControlPlane, call: ApiCall): JsonReply =>
  deletionReply(plane.computes.delete(...targetCompute(plane, call)));

const OPERATION_PAGES = { default: 100, max: 1000 } as const;

/** Newest first. */
function listOperations({ store }: ControlPlane, call: ApiCall): JsonReply {
  const { operations } = findProject(store.account, call);
  const newestFirst = [...operations.values()].map(({ record }) => record).toReversed();
  const page = paginate(call, newestFirst, OPERATION_PAGES);
  return reply({ operations: page.records, ...paginationOf(page) });
}

function showOperation({ store }: ControlPlane, call: ApiCall): JsonReply {
  const id = call.param('operation_id');
  const operation = findProject(store.account, call).operations.get(id.toLowerCase());
  if (operation === undefined) throw notFound('operation with the id', id);
  return reply({ operation: operation.record });
}
