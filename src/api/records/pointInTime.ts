import { fieldsOf } from '../../base/fieldsOf.ts';

/**
 * A point in the history of a branch. It includes all that was written before a position (LSN), or was committed by a time (ISO 8601).
 * If there are both, the position counts, because times aren't ordered if the machine's clock was wrong. The time is then for display.
 */
export type PointInTime =
  | { readonly lsn: string; readonly timestamp?: string | undefined }
  | { readonly timestamp: string };

/** @param lsn the position of the time, if it is known */
export const pointInTime = (timestamp: string, lsn: string | null | undefined): PointInTime =>
  lsn ? { lsn, timestamp } : { timestamp };

/** Returns the point as a parameter of a request. */
export const pointInTimeParameter = (at: PointInTime): string => ('lsn' in at ? at.lsn : at.timestamp);

/** Where a branch has its data from. */
export interface BranchOrigin {
  /** The parent. If the branch that was copied has been restored since, that is the one that keeps its data from before. */
  readonly branchId: string;
  /** The position in the parent's log up to which the branch has the data. */
  readonly lsn: string;
}

/** What a copy is made of: the data of a branch now, or up to a position in its log. */
export type CopySource = Pick<BranchOrigin, 'branchId'> & Partial<BranchOrigin>;

/** Returns the origin of a branch by its record; undefined if the record doesn't name it. */
export function originOfBranch(record: unknown): BranchOrigin | undefined {
  const { parent_id: branchId, parent_lsn: lsn } = fieldsOf(record);
  return typeof branchId === 'string' && typeof lsn === 'string' ? { branchId, lsn } : undefined;
}
