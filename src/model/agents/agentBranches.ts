/**
 * The branches that agents have created, and the last calls of agents. All windows share both. They contain no secret.
 */
import { isDeepStrictEqual } from 'node:util';
import { isBranchId, isId } from '../../api/records/ids.ts';
import type { Branch } from '../../api/records/records.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import { accountId } from '../account/accounts.ts';
import type { Memory } from '../memory.ts';
import { isSameBranch, type BranchRef } from '../workBranch/branchMap.ts';

/** Owns what agents without a name create, in windows of all languages. */
export const UNNAMED_AGENT = 'An agent';

type ProjectRef = Pick<BranchRef, 'account' | 'projectId'>;

export interface Caller {
  /** The name that the agent gives itself. */
  readonly agent: string;
  /** The git worktree that the agent runs in, or else its folder: see `worktreeOf`. */
  readonly worktree?: string | undefined;
}

export interface AgentBranch extends BranchRef, Caller {
  readonly name: string;
  /** Times as in the service's records. */
  readonly createdAt: string;
  readonly expiresAt: string;
  /** The path of the file with its URL, and the variable in it. */
  readonly envFile?: string | undefined;
  readonly envVariable?: string | undefined;
  /** The roles whose passwords aren't those of the parent, as long as the branch has no other `last_reset_at`. */
  readonly ownPasswords?:
    { readonly roles: readonly string[]; readonly lastReset?: string | undefined } | undefined;
}

/** A call of a tool. */
export interface AgentCall {
  readonly time: string;
  readonly agent: string;
  readonly tool: string;
  /** What was done, or why not. */
  readonly text: string;
  /** The branch that the call was about. */
  readonly branchId?: string | undefined;
}

const BRANCHES = 'hostedPostgres.agentBranches';
const CALLS = 'hostedPostgres.agentCalls';

/** The oldest ones are dropped. Those dropped too early only need an approval. */
const MAX_BRANCHES = 200;
const MAX_CALLS = 50;

/** Milliseconds between the creation of a branch and the end of all requests for lists that began before it. */
const MAX_DELAY = 60_000;

export class AgentBranches {
  readonly #memory: Memory;
  readonly #now: () => number;
  readonly #changed = new Emitter<void>();
  /** The projects of branches that are being created, and so aren't in `all` yet. */
  readonly #creations = new Set<ProjectRef>();

  /** Fires for branches, not for calls. */
  readonly onDidChange = this.#changed.event;

  constructor(memory: Memory, now: () => number = Date.now) {
    this.#memory = memory;
    this.#now = now;
  }

  /** Those that haven't expired, the newest last. */
  get all(): readonly AgentBranch[] {
    return this.#entries.filter(
      (entry): entry is AgentBranch => isAgentBranch(entry) && Date.parse(entry.expiresAt) > this.#now(),
    );
  }

  /** The number of branches in a project, with those that are being created. */
  countIn({ account, projectId }: ProjectRef): number {
    const isIn = (ref: ProjectRef) => ref.account === account && ref.projectId === projectId;
    return this.all.filter(isIn).length + [...this.#creations].filter(isIn).length;
  }

  /** @returns dispose it when the branch was added, or couldn't be created */
  beginCreation(project: ProjectRef): Disposable {
    this.#creations.add(project);
    return toDisposable(() => this.#creations.delete(project));
  }

  /** Those of the connected account. */
  of(connection: AccountConnection | undefined): readonly AgentBranch[] {
    const account = connection && accountId(connection.account);
    return this.all.filter((branch) => branch.account === account);
  }

  /** The last calls, the newest last. */
  get calls(): readonly AgentCall[] {
    const stored = this.#memory.get(CALLS);
    return Array.isArray(stored) ? stored.filter(isCall) : [];
  }

  find(ref: BranchRef): AgentBranch | undefined {
    return this.all.find((branch) => isSameBranch(ref, branch));
  }

  /** Whether this agent has created the branch. Agents in different worktrees don't own each other's branches. */
  isMadeBy(ref: BranchRef, { agent, worktree }: Caller): boolean {
    const made = this.find(ref);
    if (made?.agent !== agent) return false;
    return worktree === undefined || made.worktree === undefined || worktree === made.worktree;
  }

  /** Whether any agent has created the branch, which may be gone. */
  wasMade(ref: BranchRef): boolean {
    return this.#entries.some((entry) => isSameBranch(ref, entry));
  }

  async add(branch: AgentBranch): Promise<void> {
    const others = this.#entries.filter((entry) => !isSameBranch(branch, entry));
    await this.#set([...others, branch]);
  }

  async remove(ref: BranchRef): Promise<void> {
    await this.#set(this.#entries.map((entry) => (isSameBranch(ref, entry) ? refOf(entry) : entry)));
  }

  /**
   * Compares the branches with a fresh list of a project. One that is gone is removed, and so is one that no longer expires,
   * because the user has decided to keep it.
   */
  async update(account: string, projectId: string, list: ReadonlyMap<string, Branch>): Promise<void> {
    const updated = this.#entries.map((entry) => {
      const isListed = entry.account === account && entry.projectId === projectId && isAgentBranch(entry);
      if (!isListed) return entry;
      const { name, expires_at: expiresAt } = list.get(entry.branchId) ?? {};
      // The list of another window may have been requested before the branch was created.
      if (name === undefined && this.#now() - Date.parse(entry.createdAt) < MAX_DELAY) return entry;
      return name === undefined || !expiresAt ? refOf(entry) : { ...entry, name, expiresAt };
    });
    if (!isDeepStrictEqual(updated, this.#entries)) await this.#set(updated);
  }

  /** @param call without secrets */
  async addCall(call: Omit<AgentCall, 'time'>): Promise<void> {
    const time = new Date(this.#now()).toISOString();
    await this.#memory.update(CALLS, [...this.calls, { time, ...call }].slice(-MAX_CALLS));
  }

  /** Of those that are gone, only the ids are kept: their hosts may still be in env files. */
  get #entries(): readonly (AgentBranch | BranchRef)[] {
    const stored = this.#memory.get(BRANCHES);
    return Array.isArray(stored) ? stored.filter(isRef) : [];
  }

  async #set(entries: readonly (AgentBranch | BranchRef)[]): Promise<void> {
    const current = entries.map((entry) =>
      isAgentBranch(entry) && Date.parse(entry.expiresAt) <= this.#now() ? refOf(entry) : entry,
    );
    await this.#memory.update(BRANCHES, current.slice(-MAX_BRANCHES));
    this.#changed.fire();
  }
}

const refOf = ({ account, projectId, branchId }: BranchRef): BranchRef => ({ account, projectId, branchId });

const isText = (value: unknown): boolean => typeof value === 'string';

function isRef(value: unknown): value is BranchRef {
  const { account, projectId, branchId } = fieldsOf(value);
  return typeof account === 'string' && isId(projectId) && isBranchId(branchId);
}

function isAgentBranch(ref: BranchRef): ref is AgentBranch {
  const { name, agent, createdAt, expiresAt } = fieldsOf(ref);
  return [name, agent, createdAt, expiresAt].every(isText);
}

function isCall(value: unknown): value is AgentCall {
  const { time, agent, tool, text } = fieldsOf(value);
  return [time, agent, tool, text].every(isText);
}
