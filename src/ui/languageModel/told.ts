/** What a model is told of projects and computes: chosen fields, one line each, of bounded number and length. */
import { autosuspendSeconds } from '../../api/autosuspend.ts';
import type { Compute } from '../../api/records.ts';
import { computeSize, maxConnections } from '../../api/sizes.ts';
import { isPrimary, labelOf, sizeOf, statusOf } from '../../model/computeStatus.ts';
import { pooledHost } from '../../model/connectionStrings.ts';
import type { Inventory } from '../../model/inventory.ts';
import { sanitize } from '../text/sanitize.ts';

const SETTINGS_TOLD = 50;

const line = (text: string | null | undefined): string | undefined =>
  typeof text === 'string' && text !== '' ? sanitize(text) : undefined;

export const projectTold = (inventory: Inventory, id: string) => ({
  projectId: id,
  name: line(inventory.project(id)?.name),
  region: line(inventory.project(id)?.region_id),
  postgresVersion: inventory.project(id)?.pg_version ?? undefined,
});

/** In a list. Sizes in compute units. */
export function computeTold(compute: Compute) {
  const size = sizeOf(compute);
  return {
    computeId: compute.id,
    name: line(compute.name),
    branchId: compute.branch_id,
    type: isPrimary(compute)
      ? 'primary'
      : compute.type === 'read_only'
        ? 'read replica'
        : sanitize(compute.type),
    state: stateTold(compute),
    minCu: size?.min,
    maxCu: size?.max,
  };
}

/** Of one compute. No password is part of a host. */
export function computeDetail(inventory: Inventory, compute: Compute) {
  const size = sizeOf(compute);
  const row = size && computeSize(size.min);
  const settings = Object.entries(compute.settings?.pg_settings ?? {}).slice(0, SETTINGS_TOLD);
  return {
    ...computeTold(compute),
    project: projectTold(inventory, compute.project_id),
    host: sanitize(compute.host),
    pooledHost: line(pooledHost(compute)),
    vcpuAtMinimum: row?.vcpu,
    ramGbAtMinimum: row?.ramGb,
    maxConnections: size && maxConnections(size.min),
    autosuspend: autosuspendTold(compute),
    postgresSettings: Object.fromEntries(
      settings.map(([name, value]) => [sanitize(name), sanitize(String(value))]),
    ),
    lastActive: line(compute.last_active),
    createdAt: line(compute.created_at),
  };
}

export const nameTold = (compute: Compute): string => sanitize(labelOf(compute));

function stateTold(compute: Compute): string {
  const status = statusOf(compute);
  if (status !== 'pending') return status === 'unknown' ? sanitize(compute.current_state) : status;
  return `${sanitize(compute.current_state)}, becoming ${sanitize(compute.pending_state ?? '')}`;
}

function autosuspendTold({ suspend_timeout_seconds: delay }: Compute): string {
  const seconds = autosuspendSeconds(delay ?? undefined);
  return seconds === undefined ? 'never' : `after ${seconds} seconds without activity`;
}
