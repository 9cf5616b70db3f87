/**
 * Settings that must be at least as high on a standby as on its primary (Postgres manual, "Hot Standby", administrator's
 * overview). Otherwise the standby does not start, or stops replaying.
 */
import type { ComputeSpec } from '../../core/computeEngine.ts';
import { connectionsOf, userSettings } from './settings.ts';

export type StandbySettings = Readonly<Record<string, number>>;

/** Postgres's defaults, the same in every supported version. A new branch has them. */
const DEFAULTS: StandbySettings = {
  max_connections: 100,
  max_prepared_transactions: 0,
  max_locks_per_transaction: 64,
  max_worker_processes: 8,
};

/** The values that a compute's server has. */
export function standbySettings(compute: ComputeSpec): StandbySettings {
  const user = userSettings(compute.pgSettings);
  const values = Object.entries(DEFAULTS).map(([name, value]) => [name, Number(user.get(name) ?? value)]);
  return { ...Object.fromEntries(values), max_connections: connectionsOf(compute) };
}

/** @returns the higher of both values of each setting */
export function highest(own: StandbySettings, primary: StandbySettings = DEFAULTS): StandbySettings {
  const values = Object.entries(own).map(([name, value]) => [name, Math.max(value, primary[name] ?? 0)]);
  return Object.fromEntries(values);
}

export const areEnough = (own: StandbySettings, primary: StandbySettings): boolean =>
  Object.entries(primary).every(([name, value]) => (own[name] ?? 0) >= value);
