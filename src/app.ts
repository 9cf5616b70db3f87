/** The stores and views behind what `extension.ts` registers. One per window. */
import { Uri, type ExtensionContext, type TreeView } from 'vscode';
import type { Compute } from './api/records/records.ts';
import { DisposableStore, type Disposable } from './base/disposable.ts';
import { Accounts } from './model/account/accounts.ts';
import { ApiKeyList } from './model/account/apiKeyList.ts';
import { BackgroundRefresh } from './model/refresh/backgroundRefresh.ts';
import { BranchChanges } from './model/operations/branchChanges.ts';
import { ComputeChanges } from './model/operations/computeChanges.ts';
import type { OpenClient } from './model/account/accountConnection.ts';
import { isRotationNote } from './model/account/keyRotation.ts';
import { Guards } from './model/account/guards.ts';
import { Inventory } from './model/inventory/inventory.ts';
import { LastCompute } from './model/inventory/lastCompute.ts';
import { RequestBudget } from './model/refresh/requestBudget.ts';
import { ConnectionDefaults } from './model/connection/connectionDefaults.ts';
import { OperationTracker } from './model/operations/operationTracker.ts';
import type { PendingChange } from './model/operations/pendingChange.ts';
import { UnprotectedBranches } from './model/operations/unprotectedBranches.ts';
import { Session } from './model/account/session.ts';
import { WakeWatcher } from './model/inventory/wakeWatcher.ts';
import type { CommandContext } from './ui/commands/context.ts';
import { LocalService } from './ui/localService/localService.ts';
import { Log } from './ui/log/log.ts';
import { protectAbandoned } from './ui/notifications/protectAbandoned.ts';
import { rotationNotes, unprotectedNotes } from './ui/state/noteFiles.ts';
import { mementoStore } from './ui/state/mementoStore.ts';
import { announceStarts, OperationsStatusBar } from './ui/notifications/statusBar.ts';
import { showRotationNotice } from './ui/notifications/rotationNotice.ts';
import { secretStore } from './ui/state/secrets.ts';
import type { SettingsFileSystem } from './ui/settings/settingsFileSystem.ts';
import { Config } from './ui/state/config.ts';
import { PassFiles } from './ui/state/passFiles.ts';
import { updateContextKeys } from './ui/state/updateContextKeys.ts';
import { rememberAccount } from './ui/state/lastAccount.ts';
import { refreshWhenVisible } from './ui/state/refreshWhenVisible.ts';
import type { KeysNode } from './ui/tree/apiKeyItems.ts';
import { ApiKeysTree } from './ui/tree/apiKeysTree.ts';
import { ComputesTree } from './ui/tree/computesTree.ts';
import type { TreeNode } from './ui/tree/nodes.ts';

/** Created at activation. */
export interface ActiveViews {
  readonly computesView: TreeView<TreeNode>;
  readonly apiKeysView: TreeView<KeysNode>;
  readonly settings: Pick<SettingsFileSystem, 'show'>;
}

export class App implements Disposable {
  readonly #disposables = new DisposableStore();
  readonly log = this.#disposables.add(new Log());
  readonly config = this.#disposables.add(new Config());
  readonly session: Session;
  readonly inventory: Inventory;
  readonly connectionDefaults: ConnectionDefaults;
  readonly guards: Guards;
  readonly changes: ComputeChanges;
  readonly computesTree: ComputesTree;
  readonly apiKeysTree: ApiKeysTree;
  readonly commandContext: CommandContext;

  /** Uses neither the secret store nor the network: see `Session.start`. */
  constructor(context: ExtensionContext, { computesView, apiKeysView, settings }: ActiveViews) {
    const [disposables, log, config] = [this.#disposables, this.log, this.config];
    const secrets = secretStore(context.secrets);
    const accounts = disposables.add(new Accounts(secrets));
    const script = Uri.joinPath(context.extensionUri, 'dist', 'service.js').fsPath;
    const dataDir = Uri.joinPath(context.globalStorageUri, 'local-service').fsPath;
    const localService = disposables.add(
      new LocalService({ script, dataDir, secrets, accounts, config, log }),
    );

    const openClient = clientOpener(localService, log);
    const session = (this.session = disposables.add(new Session(accounts, openClient)));
    const inventory = (this.inventory = disposables.add(
      new Inventory(session, () => config.organizationOf(session.connection?.account)),
    ));
    const apiKeys = disposables.add(new ApiKeyList(session));
    const onError = (error: unknown) => log.error('Following operations', error);
    const memory = mementoStore(context.workspaceState);
    const connectionDefaults = (this.connectionDefaults = new ConnectionDefaults(session, memory));
    const lastCompute = new LastCompute(session, memory);
    const guards = (this.guards = new Guards(session, inventory, config));
    const budget = new RequestBudget({ isUnlimited: () => session.connection?.isLocal ?? false });
    const tracker = disposables.add(new OperationTracker({ session, inventory, memory, onError, budget }));
    const changes = (this.changes = new ComputeChanges(session, inventory, tracker));
    const unprotected = new UnprotectedBranches(unprotectedNotes(context.globalStorageUri));
    const branchChanges = new BranchChanges(session, inventory, tracker, unprotected);
    disposables.add(protectAbandoned({ session, unprotected, branchChanges, guards, log }));

    this.computesTree = disposables.add(
      new ComputesTree(session, inventory, log, computesView, localService, guards),
    );
    this.apiKeysTree = disposables.add(new ApiKeysTree(session, apiKeys, apiKeysView));
    const reveal = (change: PendingChange) => {
      const revealed = this.computesTree.revealById(change);
      revealed.catch((error: unknown) => log.error('Showing the compute of a change', error));
    };
    disposables.add(new OperationsStatusBar(tracker, (end) => settings.show(end), reveal));
    // The end of a change of a project or branch includes its computes.
    const isFollowed = ({ id, project_id, branch_id }: Compute) =>
      tracker.pending.some(
        ({ projectId, branchId = branch_id, computeId = id }) =>
          projectId === project_id && branchId === branch_id && computeId === id,
      );
    disposables.add(announceStarts(disposables.add(new WakeWatcher(inventory, isFollowed))));
    disposables.add(updateContextKeys(session, inventory));
    disposables.add(rememberAccount(session, context.globalState));
    const notes = rotationNotes(context.globalStorageUri);
    const stores = { accounts, session, openClient, inventory, lastCompute, guards, tracker };
    const trees = { computesView: this.computesTree, apiKeysView: this.apiKeysTree };
    const passFiles = disposables.add(new PassFiles(context.globalStorageUri));
    const others = { changes, branchChanges, apiKeys, rotationNotes: notes, passFiles, connectionDefaults };
    this.commandContext = { ...stores, ...trees, ...others, config, log, localService };

    this.#refreshInBackground(tracker, budget, computesView);
    disposables.add(localService.follow(session));
    for (const note of notes.all().filter(isRotationNote)) void showRotationNotice(notes, note);
  }

  #refreshInBackground(tracker: OperationTracker, budget: RequestBudget, view: TreeView<TreeNode>): void {
    const { config, inventory, log } = this;
    const refresh = this.#disposables.add(
      new BackgroundRefresh({
        inventory,
        shown: () => this.computesTree.expandedProjects,
        followed: () => tracker.projects,
        interval: () => config.refreshInterval,
        isLocal: () => this.session.connection?.isLocal ?? false,
        budget,
        onError: (error) => log.error('Refreshing in the background', error),
      }),
    );
    this.#disposables.add(refreshWhenVisible(refresh, view, config));
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

/** A client of the local service sends requests only while the service runs. */
function clientOpener(localService: LocalService, log: Log): OpenClient {
  return async (account, key, retries) => {
    const isLocal = account.local === true;
    if (isLocal) await localService.ready();
    log.addSecret(key);
    const { Client } = await import('./api/client.ts');
    const fetch = isLocal ? localService.whileRunning(account, globalThis.fetch) : globalThis.fetch;
    return new Client({ baseUrl: account.baseUrl, key, fetch, retries });
  };
}
