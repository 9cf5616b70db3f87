import type { Rehearsal } from '../../api/records/rehearsal.ts';

/** What an engine can see of a migration that runs on a branch that was made for it. */
export interface Rehearsals {
  /**
   * Observes what clients of the branch do from then on, until its primary compute, which it starts, is stopped. Each commit takes
   * some milliseconds longer. Idempotent. @throws {EngineError}
   */
  startRehearsal(branchId: string, primaryId: string): Promise<void>;

  /** Returns what was seen so far. @throws {EngineError} if no rehearsal was started, or the compute was stopped since */
  rehearsal(branchId: string): Promise<Rehearsal>;

  /**
   * Returns whether a branch certainly has the data of a position (LSN), as far as the server knows that ran then. If not, it may still
   * have them. Starts no compute. @throws {EngineError}
   */
  isUnchangedSince(branchId: string, lsn: string): Promise<boolean>;
}
