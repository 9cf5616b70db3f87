/** The records of new projects. */
import type { ProjectCreation } from '../../../api/records/requests.ts';
import { PROVISIONER } from '../computeRecord.ts';
import { toTimestamp } from '../../core/clock.ts';
import { unprocessable } from '../../core/errors.ts';
import { LOCAL_USER, bytesOfMiB, CREATION_SOURCE, type ProjectRecord } from '../../state/storedRecords.ts';
import type { ProjectDescription } from '../../state/projectsFile.ts';

/** For projects without a version if there is no Postgres. */
const DEFAULT_PG_VERSION = 18;

/** MiB. */
const BRANCH_SIZE_LIMIT = 204_800;

/** @param pgVersion of the engine; undefined without Postgres */
export function projectRecord(
  { id, name, ...description }: Omit<ProjectDescription, 'branches'>,
  pgVersion: number | undefined,
  now: number,
): ProjectRecord {
  const branch_logical_size_limit = description.branch_logical_size_limit ?? BRANCH_SIZE_LIMIT;
  return {
    id,
    name,
    platform_id: description.platform_id ?? 'local',
    region_id: description.region_id ?? 'local',
    provisioner: description.provisioner ?? PROVISIONER,
    pg_version: description.pg_version ?? pgVersion ?? DEFAULT_PG_VERSION,
    cpu_used_sec: description.cpu_used_sec ?? 0,
    locked: false,
    branch_logical_size_limit,
    branch_logical_size_limit_bytes: bytesOfMiB(branch_logical_size_limit),
    store_passwords: true,
    active_time: 0,
    creation_source: CREATION_SOURCE,
    owner_id: LOCAL_USER.id,
    proxy_host: '127.0.0.1',
    created_at: description.created_at ?? toTimestamp(now),
    updated_at: description.created_at ?? toTimestamp(now),
  };
}

/** A project that a call creates. @throws {HttpError} 422 */
export function newProject(
  id: string,
  creation: ProjectCreation,
  pgVersion: number | undefined,
  now: number,
): ProjectRecord {
  const { autoscaling_limit_min_cu, autoscaling_limit_max_cu, pg_version, history_retention_seconds } =
    creation;
  if (pgVersion !== undefined && pg_version !== undefined && pg_version !== pgVersion)
    throw unprocessable(`pg_version: this service runs Postgres ${pgVersion}.`);
  const size = { autoscaling_limit_min_cu, autoscaling_limit_max_cu };
  const { region_id, provisioner, name = id } = creation;
  return {
    ...projectRecord({ id, name, region_id, provisioner, pg_version }, pgVersion, now),
    default_endpoint_settings: { ...size, ...creation.default_endpoint_settings },
    ...(history_retention_seconds === undefined ? {} : { history_retention_seconds }),
  };
}
