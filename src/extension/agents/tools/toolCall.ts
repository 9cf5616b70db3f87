/** What each tool receives. */
import type { EnvSettings } from '../branchesOfFolder.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import type { RunGit } from '../../../base/git/runGit.ts';
import type { ChangeGuards, ChangeTarget } from '../../operations/guards.ts';
import type { Session } from '../../account/session.ts';
import type { AgentBranches } from '../../inventory/agentBranches.ts';
import type { SizeFields } from '../../inventory/computeStatus.ts';
import type { Markers } from '../../history/markers.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { BranchActions } from '../../branches/branchActions.ts';
import type { ComputeActions } from '../../computes/computeActions.ts';
import type { OperationTracker } from '../../operations/operationTracker.ts';
import type { Schemas } from '../../database/schema/schemas.ts';
import type { KnownHosts } from '../../gitBranch/knownHosts.ts';

/** A change of a compute. `connections` is the number that a suspend drops; undefined if the service doesn't report it. */
export type ComputeChange = { readonly connections?: number | undefined } & (
  | { readonly kind: 'start' | 'suspend' | 'restart' }
  | { readonly kind: 'resize'; readonly size: SizeFields }
);

export interface BranchLimit {
  /** The number of branches that agents have in the project, with those that are being created. */
  readonly count: number;
  /** How many branches agents may have without a question to the user. */
  readonly max: number;
  /** The existing branches, such as `task-1 (br-…, of claude-code)`. */
  readonly branches: readonly string[];
}

/** A change that needs the user's approval. */
export type AgentChange = ChangeTarget & {
  /** The name of the compute, branch or project. The user enters it to confirm a change in production. */
  readonly name: string;
  readonly agent: string;
} & (
    | ComputeChange
    /** A statement that only reads, with the rights of the database's owner. A mark as read-only doesn't forbid it. */
    | { readonly kind: 'read'; readonly sql: string }
    | { readonly kind: 'delete' }
    /** @property parent the name of the parent @property slots the replication slots that end */
    | { readonly kind: 'reset'; readonly parent: string; readonly slots: readonly string[] }
    /**
     * @property to the moment to go back to, such as `2026-11-26T14:32:00.000Z`
     * @property preserved the name of the branch that keeps the present data
     * @property slots the replication slots that end
     */
    | {
        readonly kind: 'undo';
        readonly to: string;
        readonly preserved: string;
        readonly slots: readonly string[];
      }
    /**
     * @property limit set if agents have so many branches in the project that the user is asked
     */
    | { readonly kind: 'create'; readonly limit: BranchLimit | undefined }
  );

/** What tools need of a window. They have no access to accounts and API keys. */
export interface ToolDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly guards: ChangeGuards;
  readonly computeActions: ComputeActions;
  readonly branchActions: BranchActions;
  readonly agentBranches: AgentBranches;
  readonly markers: Markers;
  readonly tracker: OperationTracker;
  readonly schemas: Schemas;
  readonly knownHosts: KnownHosts;
  readonly log: {
    /** Returns the message without secrets, and without what only looks like one. */
    clean(text: string): string;
    /** Returns data without known secrets. */
    hideKnownSecrets(text: string): string;
    info(text: string): void;
    /** @param activity what failed */
    error(activity: string, error: unknown): void;
  };
  readonly runGit: RunGit;
  readonly envSettings: EnvSettings;
  /** Returns the message of an error, in one safe line. */
  explain(error: unknown): string;
  /** Call this before a file is written. @throws {Error} if the user doesn't trust the folder */
  requireTrust(): void;
  /** Asks the user, if that is needed and possible. @throws {Error} with a message for the agent if the change isn't approved */
  approve(change: AgentChange, connection: AccountConnection, signal: AbortSignal): Promise<void>;
}

/** Who calls a tool, and for which folder. */
export interface ToolCaller {
  /** The name of the agent, as it calls itself. Tools get it shortened and never empty. */
  readonly agent: string;
  /** The folder that the agent works in, if it is known. An agent in a git worktree is often outside the window's folders. */
  readonly folder: string | undefined;
  readonly signal: AbortSignal;
}

/** A call of a tool, as the function of the tool receives it. */
export interface ToolCall<Input> extends ToolCaller {
  readonly deps: ToolDependencies;
  /** The connection to the account when the call began. */
  readonly connection: AccountConnection;
  /** The `accountId` of the connection. */
  readonly account: string;
  /** The git worktree of `folder`, or else `folder`. */
  readonly worktree: string | undefined;
  /** The arguments of the call, as the tool describes them. */
  readonly input: Input;
}
