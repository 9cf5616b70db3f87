/** How the marks of accounts and projects, and protected branches, restrict changes. */
import type { Mark, Marks } from '../window/marks.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { ResourceRef } from '../account/refs.ts';
import type { Session } from '../account/session.ts';

/** What a change acts on. Without a project, it is the account, for example one of its keys. */
export interface ChangeTarget extends Partial<ResourceRef> {
  /** The branch that a compute is moved to. */
  readonly toBranchId?: string | undefined;
}

/** Milliseconds that a change waits for fresh lists. */
const FRESH_LISTS_WAIT = 5000;

/** Says which changes are blocked or must be confirmed. */
export class ChangeGuards {
  readonly #session: Pick<Session, 'connection' | 'requireSameAccount'>;
  readonly #inventory: Inventory;
  readonly #settings: { readonly marks: Marks };
  readonly #clock: Clock;

  constructor(
    session: Pick<Session, 'connection' | 'requireSameAccount'>,
    inventory: Inventory,
    settings: { readonly marks: Marks },
    clock: Clock = systemClock,
  ) {
    this.#session = session;
    this.#inventory = inventory;
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#clock.now();
  }

  get connection(): AccountConnection | undefined {
    return this.#session.connection;
  }

  /** @throws {AccountSwitchedError} */
  requireSameAccount(initialConnection: AccountConnection | undefined): void {
    this.#session.requireSameAccount(initialConnection);
  }

  /** The mark of the connected account. */
  get accountMark(): Mark | undefined {
    return this.connection && this.#settings.marks[this.connection.accountId];
  }

  projectMark(projectId: string): Mark | undefined {
    return this.#settings.marks[projectId];
  }

  /** Returns the strictest mark of the account, the project and the loaded branches. A protected branch counts as production. */
  cachedMark({ projectId, branchId, computeId, toBranchId }: ChangeTarget): Mark | undefined {
    if (projectId === undefined) return this.accountMark;
    const marks = [this.accountMark, this.projectMark(projectId)];
    if (marks.includes('readOnly')) return 'readOnly';
    const compute = computeId === undefined ? undefined : this.#inventory.compute(projectId, computeId);
    const isProtected = [compute?.branch_id ?? branchId, toBranchId].some(
      (id) => id !== undefined && this.#inventory.branches.get(projectId, id)?.protected === true,
    );
    return isProtected || marks.includes('production') ? 'production' : undefined;
  }

  /** Whether `cachedMark` knows which branches are protected. */
  isProtectionCached({ projectId, branchId }: ChangeTarget): boolean {
    return projectId === undefined || branchId === undefined || this.#inventory.branches.isKnown(projectId);
  }

  /**
   * Call this before a change, because another client may have protected the branch, or moved the compute to a protected
   * one. Never rejects, and takes at most five seconds.
   */
  async refreshProtection({ projectId, branchId, computeId }: ChangeTarget): Promise<void> {
    if (projectId === undefined || branchId === undefined) return;
    const { promise: timeout, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(FRESH_LISTS_WAIT, resolve);
    const { branches } = this.#inventory;
    this.#inventory.markChanged(projectId);
    // The list itself keeps a failure, so it is ignored here.
    const computes = computeId && this.#inventory.refreshComputes(projectId).catch(() => undefined);
    // After the timeout, the requests continue: other callers may share them.
    await Promise.race([Promise.all([branches.refresh(projectId), computes]), timeout]);
    timer.dispose();
  }
}
