/** Says what a change of a compute does to its connections. */
import { isDeepStrictEqual } from 'node:util';
import type { Compute } from './records.ts';
import type { ComputePatch } from './requests.ts';

/**
 * - `none`: connections are unaffected (autosuspend, name);
 * - `restart`: the compute restarts and drops its connections (size, range, Postgres settings);
 * - `move`: the compute leaves its branch, so it is suspended and its address leads to other data;
 * - `disable`: the compute is suspended and rejects connections.
 */
export type ComputeChangeEffect = 'none' | 'restart' | 'move' | 'disable';

/** The open connections of a compute; undefined if the service doesn't report them. An idle compute has none to interrupt. */
export type OpenConnections = number | 'idle' | undefined;

export const hasNoConnections = (connections: OpenConnections): connections is 0 | 'idle' =>
  connections === 0 || connections === 'idle';

type Current = Pick<
  Compute,
  'branch_id' | 'autoscaling_limit_min_cu' | 'autoscaling_limit_max_cu' | 'settings' | 'disabled'
>;

/** Attributes whose change restarts the compute. */
interface RestartAttributes {
  readonly minCu: unknown;
  readonly maxCu: unknown;
  readonly pgSettings: unknown;
}

export const isRestartRequired = (before: RestartAttributes, after: RestartAttributes): boolean =>
  before.minCu !== after.minCu ||
  before.maxCu !== after.maxCu ||
  !isDeepStrictEqual(before.pgSettings, after.pgSettings);

/** Returns the most severe effect of a change. */
export function changeEffect(current: Current, change: ComputePatch): ComputeChangeEffect {
  if (change.disabled === true && current.disabled !== true) return 'disable';
  if ((change.branch_id ?? current.branch_id) !== current.branch_id) return 'move';
  const before = {
    minCu: current.autoscaling_limit_min_cu,
    maxCu: current.autoscaling_limit_max_cu,
    pgSettings: current.settings?.pg_settings ?? {},
  };
  const after = {
    minCu: change.autoscaling_limit_min_cu ?? before.minCu,
    maxCu: change.autoscaling_limit_max_cu ?? before.maxCu,
    pgSettings: change.settings?.pg_settings ?? before.pgSettings,
  };
  return isRestartRequired(before, after) ? 'restart' : 'none';
}
