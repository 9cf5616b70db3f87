/** A project as the call for one project shows it. The public service names its usage differently there than in lists. */
import type { ProjectRecord } from '../state/storedRecords.ts';

/** The local service has no billing period, so usage counts from the creation of the project and is never reset. */
const PERIOD_END = '9999-12-31T23:59:59Z';

/** @param listed the project as lists show it */
export function toProjectResponse({ active_time, ...listed }: ProjectRecord) {
  return {
    ...listed,
    active_time_seconds: active_time,
    compute_time_seconds: listed.cpu_used_sec,
    // Not measured.
    written_data_bytes: 0,
    data_transfer_bytes: 0,
    data_storage_bytes_hour: 0,
    // Branches can't be restored to an earlier time, but a client may have set it.
    history_retention_seconds: listed.history_retention_seconds ?? 0,
    consumption_period_start: listed.created_at,
    consumption_period_end: PERIOD_END,
  };
}
