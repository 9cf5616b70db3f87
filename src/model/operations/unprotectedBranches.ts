/**
 * Branches whose protection was removed because the user deletes them. A reload in the middle of that must not leave them
 * without it, so a note is stored before, and removed when the branch is deleted or protected again.
 */
import type { Notes } from '../memory.ts';

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
  readonly #notes: Notes<UnprotectedBranch>;
  /** Those that this window is deleting. */
  readonly #current = new Set<string>();

  constructor(notes: Notes<UnprotectedBranch>) {
    this.#notes = notes;
  }

  /** Those of an account that an earlier window has left. */
  abandoned(account: string): readonly UnprotectedBranch[] {
    return this.#notes
      .all()
      .filter((branch) => branch.account === account && !this.#current.has(idOf(branch)));
  }

  /** @throws {Error} if the note can't be stored */
  async add(branch: UnprotectedBranch): Promise<void> {
    await this.#notes.set(idOf(branch), branch);
    this.#current.add(idOf(branch));
  }

  /** It is deleted, or protected again. */
  remove(branch: UnprotectedBranch): void {
    this.#notes.delete(idOf(branch));
    this.#current.delete(idOf(branch));
  }
}
