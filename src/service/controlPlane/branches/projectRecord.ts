/** The record of a new project. */
import type { ProjectCreation } from '../../../api/records/requests.ts';
import { toTimestamp } from '../../core/clock.ts';
import { unprocessable } from '../../core/httpError.ts';
import type { ProjectRecord } from '../../state/storedRecords.ts';

/** For projects without a version if there is no Postgres. */
export const DEFAULT_PG_VERSION = 18;

/** MiB. */
export const BRANCH_SIZE_LIMIT = 204_800;

/** @param pgVersion undefined without Postgres. @throws {HttpError} 422 */
export function newProject(
  id: string,
  wanted: ProjectCreation,
  pgVersion: number | undefined,
  now: number,
): ProjectRecord {
  const { autoscaling_limit_min_cu, autoscaling_limit_max_cu, pg_version, history_retention_seconds } =
    wanted;
  if (pgVersion !== undefined && pg_version !== undefined && pg_version !== pgVersion)
    throw unprocessable(`pg_version: this service runs Postgres ${pgVersion}.`);
  const size = { autoscaling_limit_min_cu, autoscaling_limit_max_cu };
  return {
    id,
    name: wanted.name ?? id,
    platform_id: 'local',
    region_id: wanted.region_id ?? 'local',
    provisioner: wanted.provisioner ?? 'local',
    pg_version: pg_version ?? pgVersion ?? DEFAULT_PG_VERSION,
    cpu_used_sec: 0,
    locked: false,
    branch_logical_size_limit: BRANCH_SIZE_LIMIT,
    proxy_host: '127.0.0.1',
    default_endpoint_settings: { ...size, ...wanted.default_endpoint_settings },
    ...(history_retention_seconds === undefined ? {} : { history_retention_seconds }),
    created_at: toTimestamp(now),
    updated_at: toTimestamp(now),
  };
}
