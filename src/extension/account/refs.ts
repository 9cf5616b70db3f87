/** References to branches, computes and other resources, and to the data of a branch. Ids are unique only within an account. */
import type { PointInTime } from '../../api/records/pointInTime.ts';

/** A branch of the connected account. */
export interface BranchIds {
  readonly projectId: string;
  readonly branchId: string;
}

/** A branch of any account. */
export interface BranchRef extends BranchIds {
  /** The id of the account, see `accountId`. */
  readonly account: string;
}

/** A compute of the connected account. It may be moved to another branch. */
export interface ComputeIds {
  readonly projectId: string;
  readonly computeId: string;
}

/** A compute, a branch, or else the project. */
export interface ResourceRef {
  readonly projectId: string;
  readonly branchId?: string | undefined;
  /** The id of the compute, which may be on another branch than `branchId` by now. */
  readonly computeId?: string | undefined;
  /** Undefined if the resource has none. */
  readonly name?: string | null | undefined;
  /** The name of a snapshot of the branch, if that is meant. */
  readonly snapshot?: string | undefined;
}

/** @param other `none` if the user chose no branch */
export const isSameBranch = (one: BranchRef | undefined, other: BranchRef | 'none' | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  other !== 'none' &&
  one.account === other.account &&
  one.projectId === other.projectId &&
  one.branchId === other.branchId;

/** The data that a branch gets: that of a branch, as it is now or was at a time, or that of a snapshot. */
export interface RestoreSource {
  /** The branch whose data it is, or of which the snapshot was taken. */
  readonly branchId: string;
  /** Undefined for the data of now, and for a snapshot. */
  readonly at?: PointInTime;
  readonly snapshotId?: string;
}

/** Returns the fields of a request that creates a branch with the data of another one, as it is now or was at a time. */
export function parentRequestFields({ branchId: parent_id, at }: Omit<RestoreSource, 'snapshotId'>) {
  if (at === undefined) return { parent_id };
  return 'lsn' in at ? { parent_id, parent_lsn: at.lsn } : { parent_id, parent_timestamp: at.timestamp };
}
