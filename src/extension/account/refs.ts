/** Which branch, compute or other resource is meant. Ids are unique only within an account. */

/** A branch of the connected account. */
export interface BranchIds {
  readonly projectId: string;
  readonly branchId: string;
}

/** A branch of any account. */
export interface BranchRef extends BranchIds {
  /** See `accountId`. */
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
  /** May be on another branch than `branchId` by now. */
  readonly computeId?: string | undefined;
  /** Undefined if the resource has none. */
  readonly name?: string | null | undefined;
}

/** @param other `none` if the user chose no branch */
export const isSameBranch = (one: BranchRef | undefined, other: BranchRef | 'none' | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  other !== 'none' &&
  one.account === other.account &&
  one.projectId === other.projectId &&
  one.branchId === other.branchId;
