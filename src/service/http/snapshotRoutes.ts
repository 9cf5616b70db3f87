/** The public service's calls for snapshots, without schedules. */
import {
  FinalizeRestoreBody,
  SnapshotCreation,
  SnapshotPatchBody,
  SnapshotRestoreBody,
} from '../../api/records/requests.ts';
import {
  createSnapshot,
  deleteSnapshot,
  finalizeRestore,
  restoreSnapshot,
  updateSnapshot,
} from '../controlPlane/branches/snapshots.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import type { SnapshotRecord } from '../state/storedRecords.ts';
import { toBranchResponse } from './branchRoutes.ts';
import { queryParameter, readQuery } from './query.ts';
import {
  findProject,
  readJsonBody,
  readOptionalJsonBody,
  validateBody,
  type ApiCall,
  type Routes,
} from './readRequest.ts';
import { jsonReply } from './response.ts';

const PROJECT = '/projects/:project_id';
const BRANCH = `${PROJECT}/branches/:branch_id`;
const SNAPSHOT = `${PROJECT}/snapshots/:snapshot_id`;

export function snapshotRoutes(plane: ControlPlane): Routes {
  const target = (call: ApiCall) => [findProject(plane, call), call.param('snapshot_id')] as const;
  return {
    [`GET ${PROJECT}/snapshots`]: (call) =>
      jsonReply({ snapshots: [...findProject(plane, call).snapshots.values()].map(toSnapshotResponse) }),
    [`POST ${BRANCH}/snapshot`]: async (call) => {
      const creation = readQuery(call, SnapshotCreation);
      const branchId = call.param('branch_id');
      const created = await createSnapshot(plane, findProject(plane, call), branchId, creation);
      return jsonReply({ ...created, snapshot: toSnapshotResponse(created.snapshot) });
    },
    [`PATCH ${SNAPSHOT}`]: async (call) => {
      const { snapshot } = await readJsonBody(call.request, SnapshotPatchBody);
      return jsonReply({ snapshot: toSnapshotResponse(updateSnapshot(plane, ...target(call), snapshot)) });
    },
    [`DELETE ${SNAPSHOT}`]: (call) => jsonReply({ operations: deleteSnapshot(plane, ...target(call)) }, 202),
    [`POST ${SNAPSHOT}/restore`]: async (call) => {
      // The public service also takes the name from here.
      const name = queryParameter(call, 'name');
      const sent = await readOptionalJsonBody(call.request, SnapshotRestoreBody);
      const body = name === undefined ? sent : validateBody({ name, ...sent }, SnapshotRestoreBody);
      const { branch, operations } = await restoreSnapshot(plane, ...target(call), body);
      return jsonReply({
        branch: toBranchResponse(branch, findProject(plane, call), plane.clock.now()),
        operations,
      });
    },
    [`POST ${BRANCH}/finalize_restore`]: async (call) => {
      const body = await readOptionalJsonBody(call.request, FinalizeRestoreBody);
      const branchId = call.param('branch_id');
      return jsonReply({
        operations: await finalizeRestore(plane, findProject(plane, call), branchId, body),
      });
    },
  };
}

function toSnapshotResponse(stored: SnapshotRecord) {
  const { project_id: _, ...snapshot } = stored;
  return snapshot;
}
