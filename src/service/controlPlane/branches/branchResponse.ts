/** A branch as clients see it. */
import type { ProjectState } from '../../state/store.ts';
import type { BranchRecord } from '../../state/storedRecords.ts';
import { usageOfBranch } from '../usage.ts';
import { computesOf } from './branchRecord.ts';

type BranchResponse = Omit<BranchRecord, 'annotation_value'>;

/** Shows usage in whole seconds, including the time that isn't counted yet. */
export function toBranchResponse(stored: BranchRecord, project: ProjectState, now: number): BranchResponse {
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

/** Replies contain it next to the branch. */
export const annotationOf = ({ id, annotation_value: value = {}, created_at }: BranchRecord) => ({
  object: { type: 'console/branch', id },
  value,
  created_at,
  updated_at: created_at,
});
