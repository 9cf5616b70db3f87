/** The public service's calls for branches, and those that only the local service has. */
import { BranchPatchBody, BranchCreationBody, BranchRestoreBody } from '../../api/records/requests.ts';
import { computesOf, findBranch } from '../controlPlane/records/branchRecord.ts';
import {
  createBranch,
  deleteBranch,
  restoreBranch,
  setDefaultBranch,
  updateBranch,
  type BranchResult,
} from '../controlPlane/branches/branches.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { usageOfBranch } from '../controlPlane/records/countUsage.ts';
import type { ProjectState } from '../state/accountState.ts';
import type { BranchRecord } from '../state/storedRecords.ts';
import { changesReply } from './changesReply.ts';
import { choiceParameter, countByName, filterBySearch, paginate } from './query.ts';
import { findProject, readJsonBody, readOptionalJsonBody, type ApiCall, type Routes } from './readRequest.ts';
import { deletionReply, jsonReply, type JsonReply } from './response.ts';

const BRANCHES = '/projects/:project_id/branches';
const BRANCH = `${BRANCHES}/:branch_id`;

export function branchRoutes(plane: ControlPlane): Routes {
  const branchTarget = (call: ApiCall) => [findProject(plane, call), call.param('branch_id')] as const;
  const branchReply = (call: ApiCall, branch: BranchRecord) =>
    toBranchResponse(branch, findProject(plane, call), plane.clock.now());
  const replyWith = (call: ApiCall, result: BranchResult, status = 200) =>
    jsonReply({ ...result, branch: branchReply(call, result.branch) }, status);
  return {
    [`GET ${BRANCHES}`]: (call) => listBranches(plane, call),
    [`POST ${BRANCHES}`]: async (call) => {
      const body = await readOptionalJsonBody(call.request, BranchCreationBody);
      return replyWith(call, await createBranch(plane, findProject(plane, call), body), 201);
    },
    // This comes before the route of one branch, which also matches this path.
    [`GET ${BRANCHES}/count`]: (call) =>
      jsonReply({ count: countByName(call, findProject(plane, call).branches.values()) }),
    [`GET ${BRANCH}`]: (call) => {
      const branch = findBranch(...branchTarget(call));
      return jsonReply({ branch: branchReply(call, branch), annotation: annotationOf(branch) });
    },
    // Only the local service has this route.
    [`GET ${BRANCH}/replication_slots`]: async (call) => {
      const { id } = findBranch(...branchTarget(call));
      return jsonReply({ replication_slots: await (await plane.engine).replicationSlots(id) });
    },
    [`GET ${BRANCH}/changes`]: (call) => changesReply(plane, call, ...branchTarget(call)),
    [`PATCH ${BRANCH}`]: async (call) => {
      const { branch } = await readJsonBody(call.request, BranchPatchBody);
      return replyWith(call, updateBranch(plane, ...branchTarget(call), branch));
    },
    [`DELETE ${BRANCH}`]: (call) => {
      const deleted = deleteBranch(plane, ...branchTarget(call));
      return deleted === undefined ? deletionReply(undefined) : replyWith(call, deleted);
    },
    [`GET ${BRANCH}/endpoints`]: (call) => {
      const [project, id] = branchTarget(call);
      const computes = computesOf(project, findBranch(project, id).id);
      return jsonReply({ endpoints: computes.map(({ record }) => record) });
    },
    [`POST ${BRANCH}/restore`]: async (call) => {
      const body = await readJsonBody(call.request, BranchRestoreBody);
      return replyWith(call, await restoreBranch(plane, ...branchTarget(call), body));
    },
    [`POST ${BRANCH}/set_as_default`]: (call) =>
      replyWith(call, setDefaultBranch(plane, ...branchTarget(call))),
  };
}

const BRANCH_PAGE_LIMITS = { default: 10_000, max: 10_000 } as const;

const SORT_FIELDS = ['updated_at', 'created_at', 'name'] as const;
const SORT_ORDERS = ['desc', 'asc'] as const;

function listBranches(plane: ControlPlane, call: ApiCall): JsonReply {
  const project = findProject(plane, call);
  const sort_by = choiceParameter(call, 'sort_by', SORT_FIELDS);
  const sort_order = choiceParameter(call, 'sort_order', SORT_ORDERS);
  const found = filterBySearch(call, [...project.branches.values()]);
  const { records, cursor, isLast } = paginate(call, found, BRANCH_PAGE_LIMITS, {
    key: (branch) => `${branch[sort_by]}\0${branch.id}`,
    isDescending: sort_order === 'desc',
  });
  const annotated = records.filter(({ annotation_value }) => annotation_value !== undefined);
  return jsonReply({
    branches: records.map((branch) => toBranchResponse(branch, project, plane.clock.now())),
    annotations: Object.fromEntries(annotated.map((branch) => [branch.id, annotationOf(branch)])),
    pagination: { ...(isLast ? {} : { next: cursor }), sort_by, sort_order },
  });
}

/** Returns a branch for a reply. Its usage is in whole seconds, and includes the time that isn't counted yet. */
export function toBranchResponse(stored: BranchRecord, project: ProjectState, now: number) {
  const { annotation_value: _, ...branch } = stored;
  const { cpu_used_sec, active_time } = usageOfBranch(stored, computesOf(project, branch.id), now);
  const compute_time_seconds = Math.floor(cpu_used_sec);
  return {
    ...branch,
    cpu_used_sec: compute_time_seconds,
    compute_time_seconds,
    active_time_seconds: Math.floor(active_time),
  };
}

/** Returns the annotation of a branch, which replies contain next to the branch. */
const annotationOf = ({ id, annotation_value: value = {}, created_at }: BranchRecord) => ({
  object: { type: 'console/branch', id },
  value,
  created_at,
  updated_at: created_at,
});
