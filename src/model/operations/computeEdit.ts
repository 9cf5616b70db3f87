/** What an edit of a compute sends: only the attributes that change. */
import { AUTOSUSPEND_DEFAULT } from '../../api/records/autosuspend.ts';
import type { Compute } from '../../api/records/records.ts';
import type { ComputePatch } from '../../api/records/requests.ts';
import { isEqual } from '../../base/equal.ts';
import { settingsOn } from '../settings/pgSettings.ts';

/** The value of each attribute; one that the record doesn't have has its default. */
function currentOf(compute: Compute): Readonly<Record<string, unknown>> {
  return {
    branch_id: compute.branch_id,
    suspend_timeout_seconds: compute.suspend_timeout_seconds ?? AUTOSUSPEND_DEFAULT,
    pooler_enabled: compute.pooler_enabled ?? false,
    disabled: compute.disabled ?? false,
    name: compute.name ?? '',
    settings: { pg_settings: settingsOn(compute) },
    autoscaling_limit_min_cu: compute.autoscaling_limit_min_cu,
    autoscaling_limit_max_cu: compute.autoscaling_limit_max_cu,
  };
}

/** The attributes of `patch` that differ from the compute; undefined if none does. */
export function onlyChanged(compute: Compute, patch: ComputePatch): ComputePatch | undefined {
  const current = currentOf(compute);
  const different = Object.entries(patch).filter(([field, value]) => !isEqual(value, current[field]));
  return different.length === 0 ? undefined : (Object.fromEntries(different) as ComputePatch);
}
