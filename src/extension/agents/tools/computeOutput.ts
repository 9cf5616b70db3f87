/** Selects what tools return to the model about projects and computes: some fields, sanitized and of limited length. */
import { autosuspendSeconds } from '../../../api/rules/autosuspendDelay.ts';
import type { Compute } from '../../../api/records/records.ts';
import { maxConnections } from '../../../api/rules/sizes.ts';
import { isPrimary, computeSizeRange, computeStatus } from '../../inventory/computeStatus.ts';
import { pooledHost } from '../../../api/addresses/host.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { sanitize } from '../../../base/sanitize.ts';

const MAX_SETTINGS = 50;

const textOrNone = (text: string | null | undefined): string | undefined =>
  typeof text === 'string' && text !== '' ? sanitize(text) : undefined;

export function projectOutput(inventory: Inventory, id: string) {
  const { name, region_id: region, pg_version: version } = inventory.project(id) ?? {};
  return {
    projectId: id,
    name: textOrNone(name),
    region: textOrNone(region),
    postgresVersion: version ?? undefined,
  };
}

/** Returns the fields of a compute in a list. Sizes are in compute units. */
export function computeOutput(compute: Compute) {
  const size = computeSizeRange(compute);
  return {
    computeId: compute.id,
    name: textOrNone(compute.name),
    branchId: compute.branch_id,
    type: isPrimary(compute)
      ? 'primary'
      : compute.type === 'read_only'
        ? 'read replica'
        : sanitize(compute.type),
    state: stateOutput(compute),
    minCu: size?.min,
    maxCu: size?.max,
  };
}

/** Returns the fields of a single compute. */
export function computeDetails(inventory: Inventory, compute: Compute) {
  const size = computeSizeRange(compute);
  const settings = Object.entries(compute.settings?.pg_settings ?? {}).slice(0, MAX_SETTINGS);
  return {
    ...computeOutput(compute),
    project: projectOutput(inventory, compute.project_id),
    host: sanitize(compute.host),
    pooledHost: textOrNone(pooledHost(compute)),
    maxConnections: size && maxConnections(size.min),
    autosuspend: autosuspendOutput(compute),
    postgresSettings: Object.fromEntries(
      settings.map(([name, value]) => [sanitize(name), sanitize(String(value))]),
    ),
    lastActive: textOrNone(compute.last_active),
    createdAt: textOrNone(compute.created_at),
  };
}

function stateOutput(compute: Compute): string {
  const status = computeStatus(compute);
  if (status !== 'pending') return status === 'unknown' ? sanitize(compute.current_state) : status;
  return sanitize(`${compute.current_state}, becoming ${compute.pending_state}`);
}

function autosuspendOutput({ suspend_timeout_seconds: delay }: Compute): string {
  const seconds = autosuspendSeconds(delay ?? undefined);
  return seconds === undefined ? 'never' : `after ${seconds} seconds without activity`;
}
