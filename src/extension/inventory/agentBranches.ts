/**
 * The branches that agents have created, and the last calls of agents. Windows, and agents without a window, share both
 * (`sharedMemory.ts`). They contain no secret.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isBranchId, isId } from '../../api/records/ids.ts';
import type { Branch } from '../../api/records/records.ts';
import { Emitter } from '../../base/event.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { SharedMemory, SharedValues } from '../window/memory.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';

/** The owner of what agents without a name create. It isn't translated, because windows in different languages compare it. */
export const UNNAMED_AGENT = 'An agent';

type ProjectRef = Pick<BranchRef, 'account' | 'projectId'>;

interface Caller {
  /** The name that the agent gives itself. */
  readonly agent: string;
  /** The git worktree that the agent runs in, or else its folder: see `findWorktree`. */
  readonly worktree?: string | undefined;
}

/** A variable that has the URL of an agent's branch, and the path of its file. */
export interface EnvPlace {
  readonly envFile: string;
  readonly envVariable: string;
}

/** A branch that an agent has created. */
export interface AgentBranch extends BranchRef, Caller {
  readonly name: string;
  /** Times as in the service's records. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly envPlaces?: readonly EnvPlace[] | undefined;
  /** The roles that got new passwords, until the branch's `last_reset_at` isn't `lastReset`: a reset may bring back the parent's. */
  readonly ownPasswords?:
    | { readonly roles: readonly string[]; readonly lastReset?: string | undefined }
    | undefined;
  /** The id of the agent's branch whose data from before an undo this branch keeps. */
  readonly keptFor?: string | undefined;
}

/** A call of a tool. */
export interface AgentCall {
  readonly time: string;
  readonly agent: string;
  readonly tool: string;
  /** What the call has done. */
  readonly text: string;
  /** Why the call was refused or has failed. */
  readonly failure?: string | undefined;
  /** The branch that the call was about. */
  readonly branchId?: string | undefined;
}

const BRANCHES = 'hostedPostgres.agentBranches';
const CALLS_KEY = 'hostedPostgres.agentCalls';

/** The most branches that are remembered. The oldest are forgotten first, and their agents then ask for approval before they change them. */
const MAX_BRANCHES = 200;
const MAX_CALLS = 50;

/** A branch that is being created. */
interface Creation extends ProjectRef {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

const CREATIONS = 'hostedPostgres.agentCreations';

/** Milliseconds after which a creation doesn't count, because its process was killed: a call waits for two minutes at most. */
const MAX_CREATION = 10 * 60_000;

/** A fresh list of a project's branches. */
interface ListedBranches {
  readonly branches: ReadonlyMap<string, Branch>;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
}

/** Returns the variables that have the branch's URL. Earlier versions noted only the last one, in fields of the branch. */
export function envPlacesOf(branch: AgentBranch): readonly EnvPlace[] {
  const { envFile, envVariable } = fieldsOf(branch);
  if (branch.envPlaces !== undefined) return branch.envPlaces;
  return typeof envFile === 'string' && typeof envVariable === 'string' ? [{ envFile, envVariable }] : [];
}

/** Remembers the branches and the last calls of agents. */
export class AgentBranches {
  readonly #memory: SharedMemory;
  readonly #now: () => number;
  readonly #changed = new Emitter<void>();

  /** Fires when the branches have changed, but not when an agent's call is noted. */
  readonly onDidChange = this.#changed.event;

  constructor(memory: SharedMemory, now: () => number = Date.now) {
    this.#memory = memory;
    this.#now = now;
  }

  /** The branches of agents that haven't expired, the newest last. */
  get all(): readonly AgentBranch[] {
    return this.#allOf(this.#memory.values());
  }

  #allOf(values: SharedValues): readonly AgentBranch[] {
    return storedEntries(values).filter(
      (entry): entry is AgentBranch => isAgentBranch(entry) && Date.parse(entry.expiresAt) > this.#now(),
    );
  }

  /** Call this before a branch is created, so that creations at the same time count each other, in other processes, too. */
  beginCreation({ account, projectId }: ProjectRef): {
    /** The number of `branches`, plus the other creations in progress. */
    readonly count: number;
    /** The branches of agents in the project, without those that an undo has kept. */
    readonly branches: readonly AgentBranch[];
    /** Call it with the new branch, or with nothing if the creation failed. */
    readonly end: (branch?: Omit<AgentBranch, 'createdAt'>) => void;
  } {
    const creation: Creation = { account, projectId, id: randomUUID(), startedAt: this.#now() };
    const isIn = (ref: ProjectRef) => ref.account === account && ref.projectId === projectId;
    let count = 0;
    let branches: readonly AgentBranch[] = [];
    this.#memory.change((values) => {
      const others = storedCreations(values).filter(
        ({ startedAt }) => this.#now() - startedAt < MAX_CREATION,
      );
      branches = this.#allOf(values).filter((branch) => isIn(branch) && branch.keptFor === undefined);
      count = branches.length + others.filter(isIn).length;
      return { ...values, [CREATIONS]: [...others, creation] };
    });
    let hasEnded = false;
    const end = (branch?: Omit<AgentBranch, 'createdAt'>) => {
      if (hasEnded) return;
      hasEnded = true;
      const createdAt = new Date(this.#now()).toISOString();
      this.#change(
        (entries) => (branch === undefined ? entries : addOrReplace(entries, { ...branch, createdAt })),
        creation.id,
      );
    };
    return { count, branches, end };
  }

  /** Returns the branches of the connected account. */
  ofAccount(connection: AccountConnection | undefined): readonly AgentBranch[] {
    return this.all.filter(({ account }) => account === connection?.accountId);
  }

  /** The last calls, the newest last. */
  get calls(): readonly AgentCall[] {
    return storedCalls(this.#memory.values());
  }

  /** Returns the branches that keep data from before an undo of this branch, or of one of those branches. */
  keptFor(ref: BranchRef): readonly AgentBranch[] {
    const kept = this.all.filter(
      (branch) =>
        branch.keptFor === ref.branchId &&
        branch.account === ref.account &&
        branch.projectId === ref.projectId,
    );
    return kept.flatMap((branch) => [branch, ...this.keptFor(branch)]);
  }

  /** Returns what is known of an agent's branch, unless it is gone. */
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
  wasMadeByAgent(ref: BranchRef): boolean {
    return storedEntries(this.#memory.values()).some((entry) => isSameBranch(ref, entry));
  }

  add(branch: AgentBranch): void {
    this.#change((entries) => addOrReplace(entries, branch));
  }

  /** Adds to what is known of a branch, unless it is gone. */
  edit(
    ref: BranchRef,
    fieldsFor: (branch: AgentBranch) => Partial<Pick<AgentBranch, 'envPlaces' | 'ownPasswords'>>,
  ): void {
    this.#change((entries) =>
      entries.map((entry) =>
        isSameBranch(ref, entry) && isAgentBranch(entry) ? { ...entry, ...fieldsFor(entry) } : entry,
      ),
    );
  }

  remove(ref: BranchRef): void {
    this.#change((entries) => entries.map((entry) => (isSameBranch(ref, entry) ? onlyIds(entry) : entry)));
  }

  /**
   * Compares the branches with a fresh list of a project. One that is gone is removed, and so is one that no longer expires,
   * because the user has decided to keep it.
   */
  update({ account, projectId }: ProjectRef, { branches, requestedAt }: ListedBranches): void {
    this.#change((entries) =>
      entries.map((entry) => {
        const isListed = entry.account === account && entry.projectId === projectId && isAgentBranch(entry);
        if (!isListed) return entry;
        const { name, expires_at: expiresAt } = branches.get(entry.branchId) ?? {};
        // Another process may have created the branch since the list was requested.
        if (name === undefined && requestedAt <= Date.parse(entry.createdAt)) return entry;
        return name === undefined || !expiresAt ? onlyIds(entry) : { ...entry, name, expiresAt };
      }),
    );
  }

  /** @param call without secrets */
  addCall(call: Omit<AgentCall, 'time'>): void {
    const time = new Date(this.#now()).toISOString();
    this.#memory.change((values) => ({
      ...values,
      [CALLS_KEY]: [...storedCalls(values), { time, ...call }].slice(-MAX_CALLS),
    }));
  }

  /**
   * Replaces the entries by what `next` returns for them, of which only the newest {@link MAX_BRANCHES} are stored. Of expired
   * branches, only the ids are stored. Does nothing if `next` changes nothing and no creation ends.
   */
  #change(next: (entries: readonly Entry[]) => readonly Entry[], endedCreationId?: string): void {
    const before = storedEntries(this.#memory.values());
    if (endedCreationId === undefined && isDeepStrictEqual(next(before), before)) return;
    this.#memory.change((values) => {
      const current = next(storedEntries(values)).map((entry) =>
        isAgentBranch(entry) && Date.parse(entry.expiresAt) <= this.#now() ? onlyIds(entry) : entry,
      );
      const creations = storedCreations(values).filter(({ id }) => id !== endedCreationId);
      return { ...values, [BRANCHES]: current.slice(-MAX_BRANCHES), [CREATIONS]: creations };
    });
    this.#changed.fire();
  }
}

/** Of a branch that is gone, only the ids are kept, because its host may still be in env files. */
type Entry = AgentBranch | BranchRef;

const storedList = (values: SharedValues, name: string): readonly unknown[] => {
  const stored = values[name];
  return Array.isArray(stored) ? stored : [];
};
const storedEntries = (values: SharedValues): readonly Entry[] =>
  storedList(values, BRANCHES).filter(isBranchRef);
const storedCalls = (values: SharedValues): readonly AgentCall[] =>
  storedList(values, CALLS_KEY).filter(isAgentCall);
const storedCreations = (values: SharedValues): readonly Creation[] =>
  storedList(values, CREATIONS).filter(isCreation);

const addOrReplace = (entries: readonly Entry[], branch: AgentBranch): readonly Entry[] => [
  ...entries.filter((entry) => !isSameBranch(branch, entry)),
  branch,
];

const onlyIds = ({ account, projectId, branchId }: BranchRef): BranchRef => ({
  account,
  projectId,
  branchId,
});

const isText = (value: unknown): boolean => typeof value === 'string';

function isBranchRef(value: unknown): value is BranchRef {
  const { account, projectId, branchId } = fieldsOf(value);
  return typeof account === 'string' && isId(projectId) && isBranchId(branchId);
}

function isAgentBranch(ref: BranchRef): ref is AgentBranch {
  const { name, agent, createdAt, expiresAt } = fieldsOf(ref);
  return [name, agent, createdAt, expiresAt].every(isText);
}

function isAgentCall(value: unknown): value is AgentCall {
  const { time, agent, tool, text, failure = '' } = fieldsOf(value);
  return [time, agent, tool, text, failure].every(isText);
}

function isCreation(value: unknown): value is Creation {
  const { id, account, projectId, startedAt } = fieldsOf(value);
  return [id, account, projectId].every(isText) && typeof startedAt === 'number';
}
