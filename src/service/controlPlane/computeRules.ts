/** The rules a new or changed compute must keep (sections 1, 2.7, 4.3 and 8). Each throws a {@link HttpError} in words. */
import { sizeProblem, sizesOf, COMPUTE_SIZES, type Plan, type SizeRange } from '../../api/records/sizes.ts';
import type { ProjectState } from '../state/account.ts';
import { conflict, notFound, HttpError, unprocessable } from '../core/httpError.ts';
import { isUnfinished, type ComputeRecord, type StoredOperation } from '../state/storedRecords.ts';

export function requireBranch(project: ProjectState, branchId: string): void {
  if (!project.branches.has(branchId))
    throw notFound(`branch in project ${project.record.id} with the id`, branchId);
}

/**
 * At most one primary per branch (section 8). A branch that a primary is leaving stays taken until it has left:
 * the move may yet fail and bring it back.
 */
export function requireNoPrimary(project: ProjectState, branchId: string, exceptId?: string): void {
  for (const { record } of project.computes.values()) {
    if (record.id === exceptId || record.type !== 'read_write' || record.branch_id !== branchId) continue;
    throw conflict(`Branch ${branchId} already has a primary read-write compute: ${record.id}.`);
  }
  for (const operation of project.operations.values()) {
    if (operation.record.endpoint_id === exceptId || !isUnfinished(operation)) continue;
    if (leavesBranch(operation, branchId))
      throw locked(operation, 'The primary compute is still leaving the branch.');
  }
}

function leavesBranch({ step, record }: StoredOperation, branchId: string): boolean {
  if (step.kind === 'apply') return step.before.type === 'read_write' && step.before.branch_id === branchId;
  return step.kind === 'remove' && step.type === 'read_write' && record.branch_id === branchId;
}

/** 423: nothing was done, and trying again is always safe. */
export function locked(
  { record }: StoredOperation,
  why = 'Nothing was changed; try again when it has ended.',
): HttpError {
  const { id, action, status, endpoint_id } = record;
  const message = `Operation ${action} (${id}, ${status}) is running on compute ${endpoint_id}. ${why}`;
  return new HttpError(423, 'LOCKED', message, { 'retry-after': '1' });
}

const LIST_OF_SIZES = COMPUTE_SIZES.map(({ cu }) => cu).join(', ');

export function requireSize(range: SizeRange, plan: Plan): void {
  switch (sizeProblem(range, plan)) {
    case 'not-a-size':
      throw unprocessable(
        `autoscaling_limit_min_cu and autoscaling_limit_max_cu must each be one of ${LIST_OF_SIZES} CU.`,
      );
    case 'min-above-max':
      throw unprocessable(
        `autoscaling_limit_min_cu (${range.min}) is above autoscaling_limit_max_cu (${range.max}).`,
      );
    case 'above-plan': {
      const largest = sizesOf(plan).at(-1)?.cu;
      throw new HttpError(
        422,
        'PLAN_LIMIT',
        `The ${plan} plan allows computes up to ${largest} CU, not ${range.max} CU.`,
      );
    }
    case undefined:
  }
}

export function requireRegion(project: ProjectState, regionId: string | undefined): void {
  const { region_id } = project.record;
  if (regionId === undefined || regionId === region_id) return;
  throw unprocessable(`region_id must be the project's own, ${region_id}.`);
}

export function requireProvisioner(project: ProjectState, wanted: string | undefined): void {
  const { provisioner } = project.record;
  if (wanted === undefined || wanted === provisioner) return;
  throw unprocessable(`provisioner must be the project's own, ${provisioner}.`);
}

export function requireEnabled(record: ComputeRecord): void {
  if (record.disabled) throw conflict(`Compute ${record.id} is disabled. Enable it first (disabled: false).`);
}
