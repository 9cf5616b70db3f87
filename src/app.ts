/** Everything behind what `extension.ts` registers, wired from the ground up. One for a window. */
import { Uri, type ExtensionContext, type TreeView } from 'vscode';
import { DisposableStore, type Disposable } from './base/disposable.ts';
import { Accounts } from './model/accounts.ts';
import { ApiKeyList } from './model/apiKeyList.ts';
import { BackgroundRefresh } from './model/backgroundRefresh.ts';
import { ComputeChanges } from './model/computeChanges.ts';
import type { OpenClient } from './model/connection.ts';
import { Inventory } from './model/inventory.ts';
import { KnownLogins } from './model/knownLogins.ts';
import { OperationTracker } from './model/operationTracker.ts';
import type { PendingChange } from './model/pendingChange.ts';
import { Session } from './model/session.ts';
import { WakeUps } from './model/wakeUps.ts';
import { refreshWhileSeen } from './ui/attention.ts';
import { Commands } from './ui/commands/run.ts';
import { Config } from './ui/config.ts';
import { followSession } from './ui/followSession.ts';
import { rememberAccount } from './ui/lastAccount.ts';
import { LocalService } from './ui/localService.ts';
import { Log } from './ui/log.ts';
import { memoryOf } from './ui/memory.ts';
import { warnWithoutKeyring } from './ui/notify.ts';
import { Secrets } from './ui/secrets.ts';
import type { SettingsDocuments } from './ui/settings/settingsDocuments.ts';
import { announceWakeUps, PendingOperations } from './ui/statusBar.ts';
import type { KeysNode } from './ui/tree/apiKeyItems.ts';
import { ApiKeysTree } from './ui/tree/apiKeysTree.ts';
import { ComputesTree } from './ui/tree/computesTree.ts';
import type { TreeNode } from './ui/tree/nodes.ts';

/** What VS Code shows already. */
export interface Shown {
  readonly computesView: TreeView<TreeNode>;
  readonly apiKeysView: TreeView<KeysNode>;
  readonly settings: Pick<SettingsDocuments, 'show'>;
}

export class App implements Disposable {
  readonly #held = new DisposableStore();
  readonly log = this.#held.add(new Log());
  readonly config = this.#held.add(new Config());
  readonly session: Session;
  readonly inventory: Inventory;
  readonly logins: KnownLogins;
  readonly changes: ComputeChanges;
  readonly computesTree: ComputesTree;
  readonly apiKeysTree: ApiKeysTree;
  readonly commands: Commands;

  /** The secret store and the network are touched afterwards: see `Session.start`. */
  constructor(context: ExtensionContext, { computesView, apiKeysView, settings }: Shown) {
    const [held, log, config] = [this.#held, this.log, this.config];
    const secrets = held.add(new Secrets(context.secrets));
    const accounts = held.add(new Accounts(secrets));
    const script = Uri.joinPath(context.extensionUri, 'dist', 'service.js').fsPath;
    const dataDir = Uri.joinPath(context.globalStorageUri, 'local-service').fsPath;
    const localService = held.add(new LocalService({ script, dataDir, secrets, accounts, config, log }));

    const openClient: OpenClient = async (account, key, retries) => {
      const isLocal = account.local === true;
      const baseUrl = isLocal ? await localService.ready() : account.baseUrl;
      log.keepOut(key);
      const { Client, fetchFor } = await import('./api/client.ts');
      const fetch = isLocal ? localService.whileRunning(fetchFor(baseUrl)) : fetchFor(baseUrl);
      return new Client({ baseUrl, key, fetch, retries });
    };
    const session = (this.session = held.add(new Session(accounts, openClient)));
    const inventory = (this.inventory = held.add(new Inventory(session, () => config.organizationId)));
    const apiKeys = held.add(new ApiKeyList(session));
    const onError = (error: unknown) => log.error('Following operations', error);
    const memory = memoryOf(context.workspaceState);
    const logins = (this.logins = new KnownLogins(session, memory));
    const tracker = held.add(new OperationTracker({ session, inventory, memory, onError }));
    const changes = (this.changes = new ComputeChanges(session, inventory, tracker));

    this.computesTree = held.add(new ComputesTree(session, inventory, log, computesView));
    this.apiKeysTree = held.add(new ApiKeysTree(session, apiKeys, apiKeysView));
    const reveal = (change: PendingChange) => {
      const revealed = this.computesTree.revealById(change);
      revealed.catch((error: unknown) => log.error('Showing the compute of a change', error));
    };
    held.add(new PendingOperations(tracker, (end) => settings.show(end), reveal));
    const isFollowed = (id: string) => tracker.pending.some(({ computeId }) => computeId === id);
    held.add(announceWakeUps(held.add(new WakeUps(inventory, isFollowed))));
    held.add(followSession(session));
    held.add(rememberAccount(session, context.globalState));
    const stores = { accounts, session, openClient, inventory, changes, tracker, apiKeys, logins };
    const trees = { computesView: this.computesTree, apiKeysView: this.apiKeysTree };
    this.commands = new Commands({ ...stores, ...trees, config, log, localService });

    const refresh = held.add(
      new BackgroundRefresh({
        inventory,
        shown: () => this.computesTree.expandedProjects,
        followed: () => tracker.projects,
        interval: () => config.refreshInterval,
        isNear: () => session.connection?.isNear ?? false,
        onError: (error) => log.error('Refreshing in the background', error),
      }),
    );
    held.add(refreshWhileSeen(refresh, computesView, config));
    held.add(warnWithoutKeyring(secrets, log));
    held.add(localService.follow(session));
  }

  dispose(): void {
    this.#held.dispose();
  }
}
