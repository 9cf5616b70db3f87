/**
 * Compute seconds used: the time a compute is active, times its size in CU (`cpu_used_sec` of the project). Time
 * that still runs is added when it is shown and counted into the record now and then; fractions are kept, not shown.
 */
import type { Account, ProjectState } from '../state/account.ts';
import type { Change, ComputeRecord, ProjectRecord, StoredCompute } from '../state/storedRecords.ts';

/**
 * Milliseconds: use is counted twice as often as this, so what looks longer is a clock that was set, or a machine that
 * was suspended, and its computes with it.
 */
const LONGEST_UNCOUNTED = 60_000;

function secondsOf({ record, uncountedSince }: StoredCompute, now: number): number {
  if (uncountedSince === undefined) return 0;
  const milliseconds = Math.min(Math.max(0, now - uncountedSince), LONGEST_UNCOUNTED);
  return (milliseconds / 1000) * record.autoscaling_limit_min_cu;
}

/** Seconds not yet counted, by project. */
export function uncountedSeconds(account: Account, now: number): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const compute of account.active.values()) {
    const id = compute.record.project_id;
    seconds.set(id, (seconds.get(id) ?? 0) + secondsOf(compute, now));
  }
  return seconds;
}

/** The project as it is shown: whole seconds, the uncounted ones among them. */
export function withUncountedSeconds({ record }: ProjectState, uncounted: number | undefined): ProjectRecord {
  const seconds = Math.floor(record.cpu_used_sec + (uncounted ?? 0));
  return seconds === record.cpu_used_sec ? record : { ...record, cpu_used_sec: seconds };
}

/** The changes that give a compute another record (or the same) and count the time it ran until now. */
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
