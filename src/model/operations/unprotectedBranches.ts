/**
 * Branches whose protection was removed in order to delete them. A reload during a deletion must not leave the branch
 * unprotected, so a recovery record exists until the branch is deleted or protected again.
 */
import type { RecoveryRecords } from '../memory.ts';

export interface UnprotectedBranch {
  /** See `accountId`. */
  readonly account: string;
  readonly projectId: string;
  readonly branchId: string;
  /** Undefined if it has none. */
  readonly name?: string | undefined;
}

const idOf = ({ account, projectId, branchId }: UnprotectedBranch): string =>
  JSON.stringify([account, projectId, branchId]);

export class UnprotectedBranches {
  readonly #records: RecoveryRecords<UnprotectedBranch>;
  /** The branches that this window is deleting. */
  readonly #current = new Set<string>();

  constructor(records: RecoveryRecords<UnprotectedBranch>) {
    this.#records = records;
  }

  /** Branches of the account that an earlier window left unprotected. */
  abandoned(account: string): readonly UnprotectedBranch[] {
    return this.#records
      .all()
      .filter((branch) => branch.account === account && !this.#current.has(idOf(branch)));
  }

  /** @throws {Error} if the record can't be stored */
  async add(branch: UnprotectedBranch): Promise<void> {
    await this.#records.set(idOf(branch), branch);
    this.#current.add(idOf(branch));
  }

  /** Call this once the branch is deleted or protected again. */
  remove(branch: UnprotectedBranch): void {
    this.#records.delete(idOf(branch));
    this.#current.delete(idOf(branch));
  }
}
