/** Accounts and projects that the user has marked, and what that means for changes. */
import { systemClock, type Clock } from '../../base/clock.ts';
import type { Event } from '../../base/event.ts';
import { accountId, type Account } from './accounts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { AccountConnection } from './accountConnection.ts';
import type { Session } from './session.ts';

/** `production`: the user enters the name to confirm a change. `readOnly`: all changes are blocked. */
export const MARKS = ['production', 'readOnly'] as const;
export type Mark = (typeof MARKS)[number];

/** By project id or {@link stableAccountId}. */
export type Marks = Readonly<Record<string, Mark>>;

/** The id of an account in marks and settings documents. The local service's address changes, so its id is fixed. */
export const stableAccountId = (account: Account): string =>
  account.local === true ? 'local' : accountId(account);

/** The strictest of what is known of an account, a project and a branch. Undefined if nothing guards them. */
export function guardOf(
  account: Mark | undefined,
  project: Mark | undefined,
  branch: { readonly protected?: boolean | null | undefined } | undefined,
): Mark | undefined {
  const marks = [account, project];
  if (marks.includes('readOnly')) return 'readOnly';
  return marks.includes('production') || branch?.protected === true ? 'production' : undefined;
}

/** What a change acts on. Without a project: the account, for example one of its keys. */
export interface GuardTarget {
  readonly projectId?: string | undefined;
  readonly branchId?: string | undefined;
  /** The compute may have moved from `branchId` to another branch. */
  readonly computeId?: string | undefined;
  /** The branch that a compute is moved to. */
  readonly toBranchId?: string | undefined;
}

/** What is known of branches and computes. */
export interface GuardedInventory extends Pick<Inventory, 'refreshComputes'> {
  readonly branches: Pick<Inventory['branches'], 'isKnown' | 'refresh'> & {
    get(projectId: string, branchId: string): { readonly protected?: boolean | null | undefined } | undefined;
  };
  compute(projectId: string, computeId: string): { readonly branch_id: string } | undefined;
}

/** Milliseconds that a change waits for the lists. */
const MAX_WAIT = 5000;

/** The user's settings. */
export interface MarkSettings {
  readonly marks: Marks;
  readonly onDidChangeMarks: Event<void>;
}

export class Guards {
  readonly #session: Pick<Session, 'connection' | 'requireSameAccount'>;
  readonly #inventory: GuardedInventory;
  readonly #settings: MarkSettings;
  readonly #clock: Clock;

  readonly onDidChange: Event<void>;

  constructor(
    session: Pick<Session, 'connection' | 'requireSameAccount'>,
    inventory: GuardedInventory,
    settings: MarkSettings,
    clock: Clock = systemClock,
  ) {
    this.#session = session;
    this.#inventory = inventory;
    this.#settings = settings;
    this.#clock = clock;
    this.onDidChange = settings.onDidChangeMarks;
  }

  get connection(): AccountConnection | undefined {
    return this.#session.connection;
  }

  /** @throws {AccountSwitchedError} */
  requireSameAccount(initialConnection: AccountConnection | undefined): void {
    this.#session.requireSameAccount(initialConnection);
  }

  /** The mark of the connected account. */
  get account(): Mark | undefined {
    return this.connection && this.ofAccount(this.connection.account);
  }

  /** The mark of an account, connected or not. */
  ofAccount(account: Account): Mark | undefined {
    return this.#settings.marks[stableAccountId(account)];
  }

  project(projectId: string): Mark | undefined {
    return this.#settings.marks[projectId];
  }

  /** From what is known now; for rows. */
  known({ projectId, branchId, computeId, toBranchId }: GuardTarget): Mark | undefined {
    if (projectId === undefined) return this.account;
    const compute = computeId === undefined ? undefined : this.#inventory.compute(projectId, computeId);
    const branches = [compute?.branch_id ?? branchId, toBranchId].map((id) =>
      id === undefined ? undefined : this.#inventory.branches.get(projectId, id),
    );
    const protectedBranch = branches.find((branch) => branch?.protected === true);
    return guardOf(this.account, this.project(projectId), protectedBranch);
  }

  /** Whether `known` is right about the branches. */
  isProtectionKnown({ projectId, branchId }: GuardTarget): boolean {
    return projectId === undefined || branchId === undefined || this.#inventory.branches.isKnown(projectId);
  }

  /** For a change: another client may have protected the branch, or moved the compute to one that is. Never rejects, and takes at most five seconds. */
  async refreshProtection({ projectId, branchId, computeId }: GuardTarget): Promise<void> {
    if (projectId === undefined || branchId === undefined) return;
    const { promise: limit, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(MAX_WAIT, resolve);
    const { branches } = this.#inventory;
    // The list keeps its failure.
    const computes = computeId && this.#inventory.refreshComputes(projectId).catch(() => undefined);
    // The requests continue after that, because others may wait for them, too.
    await Promise.race([Promise.all([branches.refresh(projectId), computes]), limit]);
    timer.dispose();
  }
}
