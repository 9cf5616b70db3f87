/** The public service's calls for branches. */
import { BranchPatchBody, BranchCreationBody, BranchRestoreBody } from '../../api/records/requests.ts';
import { computesOf, findBranch } from '../controlPlane/branches/branchRecord.ts';
import type { BranchResult } from '../controlPlane/branches/branches.ts';
import { annotationOf, toBranchResponse } from '../controlPlane/branches/branchResponse.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import type { ProjectState } from '../state/store.ts';
import { choiceParameter, paginate, search } from './query.ts';
import { findProject, readJsonBody, readOptionalJsonBody, type ApiCall, type Routes } from './request.ts';
import { deletionReply, reply, type JsonReply } from './response.ts';

const BRANCHES = '/projects/:project_id/branches';
const BRANCH = `${BRANCHES}/:branch_id`;

export const branchRoutes = (plane: ControlPlane): Routes => ({
  [`GET ${BRANCHES}`]: (call) => listBranches(plane, call),
  [`POST ${BRANCHES}`]: (call) => createBranch(plane, call),
  [`GET ${BRANCH}`]: (call) => showBranch(plane, call),
  [`PATCH ${BRANCH}`]: (call) => updateBranch(plane, call),
  [`DELETE ${BRANCH}`]: (call) => removeBranch(plane, call),
  [`GET ${BRANCH}/endpoints`]: (call) => listComputes(plane, call),
  [`POST ${BRANCH}/restore`]: (call) => restoreBranch(plane, call),
  [`POST ${BRANCH}/set_as_default`]: (call) =>
    branchReply(plane, call, plane.branches.setDefault(...target(plane, call))),
});

const target = ({ store }: ControlPlane, call: ApiCall): [project: ProjectState, branchId: string] => [
  findProject(store.account, call),
  call.param('branch_id'),
];

const BRANCH_PAGES = { default: 10_000, max: 10_000 } as const;

const SORT_FIELDS = ['updated_at', 'created_at', 'name'] as const;
const SORT_ORDERS = ['desc', 'asc'] as const;

function listBranches({ store, clock }: ControlPlane, call: ApiCall): JsonReply {
  const project = findProject(store.account, call);
  const sort_by = choiceParameter(call, 'sort_by', SORT_FIELDS);
  const sort_order = choiceParameter(call, 'sort_order', SORT_ORDERS);
  const sorted = search(call, [...project.branches.values()]).toSorted(
    (a, b) => compare(a[sort_by], b[sort_by]) || compare(a.id, b.id),
  );
  if (sort_order === 'desc') sorted.reverse();
  const { records, cursor, isLast } = paginate(call, sorted, BRANCH_PAGES);
  const annotated = records.filter(({ annotation_value }) => annotation_value !== undefined);
  return reply({
    branches: records.map((branch) => toBranchResponse(branch, project, clock.now())),
    annotations: Object.fromEntries(annotated.map((branch) => [branch.id, annotationOf(branch)])),
    pagination: { ...(isLast ? {} : { next: cursor }), sort_by, sort_order },
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

async function createBranch({ store, branches, clock }: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const body = await readOptionalJsonBody(call.request, BranchCreationBody);
  const project = findProject(store.account, call);
  const created = await branches.create(project, body);
  return reply({ ...created, branch: toBranchResponse(created.branch, project, clock.now()) }, 201);
}

function showBranch(plane: ControlPlane, call: ApiCall): JsonReply {
  const [project, id] = target(plane, call);
  const branch = findBranch(project, id);
  return reply({
    branch: toBranchResponse(branch, project, plane.clock.now()),
    annotation: annotationOf(branch),
  });
}

async function updateBranch(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const { branch } = await readJsonBody(call.request, BranchPatchBody);
  return branchReply(plane, call, plane.branches.update(...target(plane, call), branch));
}

function removeBranch(plane: ControlPlane, call: ApiCall): JsonReply {
  const deleted = plane.branches.delete(...target(plane, call));
  return deleted === undefined ? deletionReply(undefined) : branchReply(plane, call, deleted);
}

async function restoreBranch(plane: ControlPlane, call: ApiCall): Promise<JsonReply> {
  const body = await readJsonBody(call.request, BranchRestoreBody);
  return branchReply(plane, call, await plane.branches.restore(...target(plane, call), body));
}

function branchReply({ store, clock }: ControlPlane, call: ApiCall, result: BranchResult): JsonReply {
  const project = findProject(store.account, call);
  return reply({ ...result, branch: toBranchResponse(result.branch, project, clock.now()) });
}

function listComputes(plane: ControlPlane, call: ApiCall): JsonReply {
  const [project, id] = target(plane, call);
  const computes = computesOf(project, findBranch(project, id).id);
  return reply({ endpoints: computes.map(({ record }) => record) });
}
