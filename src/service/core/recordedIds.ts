/** Ids of the account, by which an engine knows what it must keep at its start. Snapshots are branches without computes. */
export interface RecordedIds {
  readonly branches: readonly string[];
  /** Of branches that were deleted, or couldn't be created, so that their data isn't needed. */
  readonly formerBranches: readonly string[];
  readonly computes: readonly string[];
}
