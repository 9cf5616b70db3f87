/**
 * Finalizing the restore of a snapshot: as on the public service, the restored branch takes the place of another one, with its
 * name, settings and computes, and so with its connection strings. The other one stays under another name.
 */
import { toTimestamp } from '../../core/serviceClock.ts';
import type { ProjectState } from '../../state/accountState.ts';
import type { BranchRecord, BranchStep, Mutation } from '../../state/storedRecords.ts';
import { computesOf, isSameOrAncestorOf, uniqueName } from '../records/branchRecord.ts';
import { withComputeState } from '../records/computeRecord.ts';

type FinalizeStep = Extract<BranchStep, { readonly kind: 'finalizeBranch' }>;

/** Returns the mutations of the step. Only records change: the computes don't run, and a server gets its branch when it starts. */
export function finalizationMutations(
  { targetId, oldName }: FinalizeStep,
  project: ProjectState,
  branch: BranchRecord,
  now: number,
): readonly Mutation[] {
  const target = project.branches.get(targetId);
  if (target === undefined) return [];
  const updated_at = toTimestamp(now);
  const replaced: BranchRecord = {
    ...target,
    name: oldName === undefined ? uniqueName(project, target.name, ' (old)') : uniqueName(project, oldName),
    default: false,
    restored_as: branch.id,
    updated_at,
  };
  const restored: BranchRecord = {
    ...branch,
    name: target.name,
    default: branch.default || target.default,
    protected: target.protected,
    // The target may have been replaced by a copy of the restored branch, which can't become its parent.
    ...(!isSameOrAncestorOf(project, branch, target.parent_id) && {
      parent_id: target.parent_id,
      parent_lsn: target.parent_lsn,
      parent_timestamp: target.parent_timestamp,
    }),
    init_source: target.init_source,
    expires_at: target.expires_at,
    ttl_interval_seconds: target.ttl_interval_seconds,
    annotation_value: target.annotation_value,
    restore_status: 'finalized',
    last_reset_at: updated_at,
    updated_at,
  };
  return [
    { set: 'branch', value: replaced },
    { set: 'branch', value: restored },
    ...computesOf(project, targetId).map((compute): Mutation => {
      const record = { ...compute.record, branch_id: branch.id, updated_at };
      return { set: 'compute', value: { ...compute, record } };
    }),
  ];
}

/** Returns the mutations that end what is pending on the computes of the branch. Computes that an earlier step has suspended stay idle. */
export const endPendingMutations = (
  project: ProjectState,
  branchId: string,
  now: number,
): readonly Mutation[] =>
  computesOf(project, branchId).map((compute) => {
    const record = withComputeState(compute.record, { pending: undefined }, now);
    return { set: 'compute', value: { ...compute, record } };
  });
