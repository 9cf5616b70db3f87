/** What every command receives: the model, and the parts of the UI that commands use. */
import type { Uri } from 'vscode';
import type { Accounts } from '../../model/account/accounts.ts';
import type { ApiKeyList } from '../../model/account/apiKeyList.ts';
import type { AccountConnection, OpenClient } from '../../model/account/accountConnection.ts';
import type { RotationRecord } from '../../model/account/keyRotation.ts';
import type { Guards } from '../../model/account/guards.ts';
import type { Session } from '../../model/account/session.ts';
import type { AgentBranches } from '../../model/agents/agentBranches.ts';
import type { ConnectionDefaults } from '../../model/connection/connectionDefaults.ts';
import type { Launch } from '../../model/agents/launcher.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import type { LastCompute } from '../../model/inventory/lastCompute.ts';
import type { BranchNode, ComputeNode, ProjectNode } from '../../model/inventory/nodes.ts';
import type { RecoveryRecords } from '../../model/memory.ts';
import type { BranchActions } from '../../model/operations/branchActions.ts';
import type { ComputeActions } from '../../model/operations/computeActions.ts';
import type { KnownHosts } from '../../model/workBranch/knownHosts.ts';
import type { OperationTracker } from '../../model/operations/operationTracker.ts';
import type { ResourceRef } from '../../model/operations/pendingChange.ts';
import type { Schemas } from '../../model/schema/schemas.ts';
import type { LocalService } from '../localService/localService.ts';
import type { Log } from '../log/log.ts';
import type { Config } from '../state/config.ts';
import type { NameOrder } from '../text/idAndName.ts';
import type { PassFiles } from '../state/passFiles.ts';
import type { WorkFolders } from '../workBranch/workFolders.ts';

interface Selection {
  readonly selection: readonly unknown[];
}

/** The part of the Computes view that commands use. */
export interface ComputesView {
  readonly expandedProjects: ReadonlySet<string>;
  readonly view: Selection;
  reveal(node: ProjectNode | BranchNode | ComputeNode): Promise<void>;
  revealById(target: ResourceRef): Promise<void>;
  showMore(): void;
  redraw(): void;
}

export interface CommandContext {
  readonly extensionUri: Uri;
  readonly accounts: Accounts;
  readonly session: Session;
  readonly openClient: OpenClient;
  readonly inventory: Inventory;
  readonly lastCompute: LastCompute;
  readonly connectionDefaults: ConnectionDefaults;
  readonly guards: Guards;
  readonly computeActions: ComputeActions;
  readonly branchActions: BranchActions;
  readonly tracker: OperationTracker;
  readonly schemas: Schemas;
  readonly apiKeys: ApiKeyList;
  readonly rotationRecords: RecoveryRecords<RotationRecord>;
  readonly config: Config;
  readonly log: Log;
  readonly nameOrder: NameOrder;
  readonly passFiles: PassFiles;
  readonly localService: LocalService;
  readonly agentBranches: AgentBranches;
  readonly knownHosts: KnownHosts;
  readonly workFolders: WorkFolders;
  /** `enable` returns what agents start. */
  readonly agentBridge: () => Promise<{ enable(): Promise<Launch> }>;
  readonly computesView: ComputesView;
  readonly apiKeysView: { readonly view: Selection };
}

export interface Run {
  /** The title of the message if the command fails, such as “Couldn't restart ep-…”. Set by the command. */
  failureMessage: string;
  /** The connection when the command began. Changes are sent only to its account. */
  readonly initialConnection: AccountConnection | undefined;
  /** The advice if the reply to a change was lost; by default, to check the list. */
  unknownOutcome?: string;
}

/**
 * @param argument not validated; from VS Code, a keybinding or another extension
 * @returns the value to substitute, if the command is one for `${input:…}` in tasks.json and launch.json
 */
export type Command = (
  context: CommandContext,
  argument: unknown,
  run: Run,
) => Promise<string | undefined | void> | void;
