/** What a change of a compute does to its connections (section 3.2). */
import { isEqual } from '../../base/equal.ts';
import type { Compute } from './records.ts';
import type { ComputeChange } from './requests.ts';

/**
 * - `none`: connections are unaffected (autosuspend, name; rule 4);
 * - `restart`: the compute restarts and drops its connections (size, range, Postgres settings; rules 1 and 2);
 * - `move`: the compute leaves its branch, so it is suspended and its address leads to other data (section 3.1);
 * - `disable`: the compute is suspended and rejects connections.
 */
export type ChangeEffect = 'none' | 'restart' | 'move' | 'disable';

type Current = Pick<
  Compute,
  'branch_id' | 'autoscaling_limit_min_cu' | 'autoscaling_limit_max_cu' | 'settings' | 'disabled'
>;

const differs = <T>(wanted: T | undefined, current: T | null | undefined): boolean =>
  wanted !== undefined && !isEqual(wanted, current);

/** The most severe effect of a change. */
export function changeEffect(current: Current, change: ComputeChange): ChangeEffect {
  if (change.disabled === true && current.disabled !== true) return 'disable';
  if (differs(change.branch_id, current.branch_id)) return 'move';
  const restarts =
    differs(change.autoscaling_limit_min_cu, current.autoscaling_limit_min_cu) ||
    differs(change.autoscaling_limit_max_cu, current.autoscaling_limit_max_cu) ||
    differs(change.settings?.pg_settings, current.settings?.pg_settings ?? {});
  return restarts ? 'restart' : 'none';
}
