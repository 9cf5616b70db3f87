/**
 * Usage of a project: the seconds that its computes were active (`active_time`), and these multiplied by each compute's
 * size in CU (`cpu_used_sec`). The time since the last write is added when a project is shown. Fractions are stored but
 * not shown.
 */
import type { AccountState, ProjectState } from '../../state/accountState.ts';
import type {
  BranchRecord,
  Mutation,
  ComputeRecord,
  ProjectRecord,
  StoredCompute,
} from '../../state/storedRecords.ts';

type Usage = Pick<ProjectRecord, 'cpu_used_sec' | 'active_time'>;

/**
 * The most milliseconds that are counted. Usage is written every 30 s, so a longer time means that the clock was changed, or that the
 * machine slept.
 */
const MAX_UNCOUNTED = 60_000;

function uncountedUsageOf({ record, uncountedSince }: StoredCompute, now: number): Usage {
  const elapsed = uncountedSince === undefined ? 0 : now - uncountedSince;
  const active_time = Math.min(Math.max(0, elapsed), MAX_UNCOUNTED) / 1000;
  return { cpu_used_sec: active_time * record.autoscaling_limit_min_cu, active_time };
}

const addUsage = (a: Usage, b: Usage): Usage => ({
  cpu_used_sec: a.cpu_used_sec + b.cpu_used_sec,
  active_time: a.active_time + b.active_time,
});

const addUncountedUsage = (usage: Usage, computes: Iterable<StoredCompute>, now: number): Usage =>
  [...computes].reduce((total, compute) => addUsage(total, uncountedUsageOf(compute, now)), usage);

/** Returns the project as lists show it: in whole seconds, including the time that isn't counted yet. */
export function withUsage(
  { record, computes }: Pick<ProjectState, 'record' | 'computes'>,
  now: number,
): ProjectRecord {
  const { cpu_used_sec, active_time } = addUncountedUsage(record, computes.values(), now);
  return { ...record, cpu_used_sec: Math.floor(cpu_used_sec), active_time: Math.floor(active_time) };
}

const countedUsageOf = ({ compute_time_seconds, active_time_seconds }: BranchRecord): Usage => ({
  cpu_used_sec: compute_time_seconds,
  active_time: active_time_seconds,
});

/** Returns the usage of a branch, including the time that isn't counted yet. */
export const usageOfBranch = (branch: BranchRecord, computes: readonly StoredCompute[], now: number): Usage =>
  addUncountedUsage(countedUsageOf(branch), computes, now);

/** Returns the mutations that add the uncounted usage of a compute to its project and its branch. */
export function usageMutations(
  account: AccountState,
  compute: StoredCompute,
  now: number,
): readonly Mutation[] {
  const { record, branches } = account.project(compute.record.project_id);
  const usage = uncountedUsageOf(compute, now);
  if (usage.active_time === 0) return [];
  const project: Mutation = { set: 'project', value: { ...record, ...addUsage(record, usage) } };
  const branch = branches.get(compute.record.branch_id);
  if (branch === undefined) return [project];
  const { cpu_used_sec, active_time } = addUsage(countedUsageOf(branch), usage);
  const value = { ...branch, compute_time_seconds: cpu_used_sec, active_time_seconds: active_time };
  return [project, { set: 'branch', value }];
}

/** Returns the mutations that set the record of a compute and count its usage until now. */
export function computeMutations(
  account: AccountState,
  compute: StoredCompute,
  record: ComputeRecord,
  now: number,
): readonly Mutation[] {
  const uncountedSince = record.current_state === 'active' ? now : undefined;
  const value = { ...compute, record, uncountedSince };
  return [...usageMutations(account, compute, now), { set: 'compute', value }];
}
