/** The part of an engine that knows the logical replication slots of branches, for clients that follow changes. */
export interface ReplicationSlots {
  /** Returns the names of slots. Slots end when the data of the branch is replaced. Starts no compute. */
  replicationSlots(branchId: string): Promise<readonly string[]>;

  /**
   * Drops slots that no program has read for too long, and logs those that keep much of the log. Does not throw.
   * @param seconds since the last check
   */
  dropIdleSlots(branchIds: readonly string[], seconds: number): Promise<void>;
}
