/** What commands work with: the stores, and the few things of the screen they need. */
import type { Accounts } from '../../model/account/accounts.ts';
import type { ApiKeyList } from '../../model/account/apiKeyList.ts';
import type { ComputeChanges } from '../../model/operations/computeChanges.ts';
import type { OpenClient } from '../../model/account/connection.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import type { ConnectionDefaults } from '../../model/connection/connectionDefaults.ts';
import type { ComputeNode } from '../../model/inventory/nodes.ts';
import type { OperationTracker } from '../../model/operations/operationTracker.ts';
import type { PendingRotations } from '../../model/account/pendingRotations.ts';
import type { Session } from '../../model/account/session.ts';
import type { Config } from '../state/config.ts';
import type { LocalService } from '../localService/localService.ts';
import type { Log } from '../log/log.ts';

/** A tree, as far as keybindings know it. */
export interface Selected {
  readonly selection: readonly unknown[];
}

/** The Computes view, as far as commands know it. */
export interface ComputesView {
  readonly expandedProjects: ReadonlySet<string>;
  readonly view: Selected;
  reveal(compute: ComputeNode): Promise<void>;
  revealById(compute: Pick<ComputeNode, 'projectId' | 'computeId'>): Promise<void>;
  showMore(): void;
}

export interface CommandContext {
  readonly accounts: Accounts;
  readonly session: Session;
  readonly openClient: OpenClient;
  readonly inventory: Inventory;
  readonly connectionDefaults: ConnectionDefaults;
  readonly changes: ComputeChanges;
  readonly tracker: OperationTracker;
  readonly apiKeys: ApiKeyList;
  readonly rotations: PendingRotations;
  readonly config: Config;
  readonly log: Log;
  readonly localService: LocalService;
  readonly computesView: ComputesView;
  readonly apiKeysView: { readonly view: Selected };
}

/** One run of a command. */
export interface Run {
  /** What to say if the run fails, without a full stop: “Could not restart ep-…”. A handler sets it once it knows. */
  couldNot: string;
}

/** `argument` is whatever VS Code or a caller gave: checked before use, and it may be missing. */
export type Command = (context: CommandContext, argument: unknown, run: Run) => Promise<void> | void;
