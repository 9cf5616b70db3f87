/**
 * Compute seconds: the time a compute is active times its size in CU (`cpu_used_sec` of the project). The time since the
 * last write is added when a project is shown. Fractions are stored but not shown.
 */
import type { AccountState, ProjectState } from '../state/store.ts';
import type {
  BranchRecord,
  Change,
  ComputeRecord,
  ProjectRecord,
  StoredCompute,
} from '../state/storedRecords.ts';

/**
 * Milliseconds. Usage is written twice as often, so a longer time means that the clock was changed or the machine was
 * suspended, with its computes.
 */
const LONGEST_UNCOUNTED = 60_000;

function activeSecondsOf({ uncountedSince = Infinity }: StoredCompute, now: number): number {
  return Math.min(Math.max(0, now - uncountedSince), LONGEST_UNCOUNTED) / 1000;
}

const uncountedSecondsOf = (compute: StoredCompute, now: number): number =>
  activeSecondsOf(compute, now) * compute.record.autoscaling_limit_min_cu;

/** Returns the seconds since the last write by project. */
export function uncountedSeconds(account: AccountState, now: number): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const compute of account.active.values()) {
    const id = compute.record.project_id;
    seconds.set(id, (seconds.get(id) ?? 0) + uncountedSecondsOf(compute, now));
  }
  return seconds;
}

/** Returns the project as clients see it: with whole seconds, including the uncounted ones. */
export function withUncountedSeconds({ record }: ProjectState, uncounted: number | undefined): ProjectRecord {
  const seconds = Math.floor(record.cpu_used_sec + (uncounted ?? 0));
  return seconds === record.cpu_used_sec ? record : { ...record, cpu_used_sec: seconds };
}

/** Returns the branch as clients see it. */
export function shownBranch(branch: BranchRecord, project: ProjectState, now: number): BranchRecord {
  let [used, active] = [branch.compute_time_seconds, branch.active_time_seconds];
  for (const compute of project.computes.values()) {
    if (compute.record.branch_id !== branch.id) continue;
    used += uncountedSecondsOf(compute, now);
    active += activeSecondsOf(compute, now);
  }
  const [compute_time_seconds, active_time_seconds] = [Math.floor(used), Math.floor(active)];
  const isSame =
    compute_time_seconds === branch.compute_time_seconds &&
    active_time_seconds === branch.active_time_seconds;
  if (isSame && branch.cpu_used_sec === compute_time_seconds) return branch;
  return { ...branch, cpu_used_sec: compute_time_seconds, compute_time_seconds, active_time_seconds };
}

function branchUsage(compute: StoredCompute, project: ProjectState, now: number): Change[] {
  const branch = project.branches.get(compute.record.branch_id);
  if (branch === undefined) return [];
  const compute_time_seconds = branch.compute_time_seconds + uncountedSecondsOf(compute, now);
  const active_time_seconds = branch.active_time_seconds + activeSecondsOf(compute, now);
  return [{ set: 'branch', value: { ...branch, compute_time_seconds, active_time_seconds } }];
}

/** Returns the changes that set the record of a compute and count its running time until now. */
export function changeRecord(
  compute: StoredCompute,
  project: ProjectState,
  record: ComputeRecord,
  now: number,
): readonly Change[] {
  const { uncountedSince: _, ...stopped } = { ...compute, record };
  const value = record.current_state === 'active' ? { ...stopped, uncountedSince: now } : stopped;
  const seconds = uncountedSecondsOf(compute, now);
  const cpu_used_sec = project.record.cpu_used_sec + seconds;
  const counted: Change[] =
    seconds === 0
      ? []
      : [
          { set: 'project', value: { ...project.record, cpu_used_sec } },
          ...branchUsage(compute, project, now),
        ];
  return [...counted, { set: 'compute', value }];
}
