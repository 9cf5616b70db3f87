/**
 * Compute seconds: the time a compute is active times its size in CU (`cpu_used_sec` of the project). The time since the
 * last write is added when a project is shown. Fractions are stored but not shown.
 */
import type { Account, ProjectState } from '../state/store.ts';
import type { Change, ComputeRecord, ProjectRecord, StoredCompute } from '../state/storedRecords.ts';

/**
 * Milliseconds. Usage is written twice as often, so a longer time means that the clock was changed or the machine was
 * suspended, with its computes.
 */
const LONGEST_UNCOUNTED = 60_000;

function secondsOf({ record, uncountedSince }: StoredCompute, now: number): number {
  if (uncountedSince === undefined) return 0;
  const milliseconds = Math.min(Math.max(0, now - uncountedSince), LONGEST_UNCOUNTED);
  return (milliseconds / 1000) * record.autoscaling_limit_min_cu;
}

/** Returns the seconds since the last write by project. */
export function uncountedSeconds(account: Account, now: number): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const compute of account.active.values()) {
    const id = compute.record.project_id;
    seconds.set(id, (seconds.get(id) ?? 0) + secondsOf(compute, now));
  }
  return seconds;
}

/** Returns the project as clients see it: with whole seconds, including the uncounted ones. */
export function withUncountedSeconds({ record }: ProjectState, uncounted: number | undefined): ProjectRecord {
  const seconds = Math.floor(record.cpu_used_sec + (uncounted ?? 0));
  return seconds === record.cpu_used_sec ? record : { ...record, cpu_used_sec: seconds };
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
  const seconds = secondsOf(compute, now);
  const cpu_used_sec = project.record.cpu_used_sec + seconds;
  const counted: Change[] =
    seconds === 0 ? [] : [{ set: 'project', value: { ...project.record, cpu_used_sec } }];
  return [...counted, { set: 'compute', value }];
}
