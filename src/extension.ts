/** Wires the extension from the ground up. Nothing here waits: the network and the secret store are touched afterwards. */
import { Uri, type ExtensionContext } from 'vscode';
import { DisposableStore } from './base/disposable.ts';
import { Accounts } from './model/accounts.ts';
import { ApiKeyList } from './model/apiKeyList.ts';
import { BackgroundRefresh } from './model/backgroundRefresh.ts';
import { ComputeChanges } from './model/computeChanges.ts';
import type { OpenClient } from './model/connection.ts';
import { Inventory } from './model/inventory.ts';
import { OperationTracker } from './model/operationTracker.ts';
import { Session } from './model/session.ts';
import { WakeUps } from './model/wakeUps.ts';
import { refreshWhileSeen } from './ui/attention.ts';
import { registerCommands } from './ui/commands/register.ts';
import { Config } from './ui/config.ts';
import { followSession } from './ui/contextKeys.ts';
import { registerProviders } from './ui/editor/providers.ts';
import { registerTools } from './ui/languageModel/register.ts';
import { LocalService } from './ui/localService.ts';
import { Log } from './ui/log.ts';
import { memoryOf } from './ui/memory.ts';
import { warnWithoutKeyring } from './ui/notify.ts';
import { Secrets } from './ui/secrets.ts';
import { SettingsDocuments } from './ui/settings/settingsDocuments.ts';
import { announceWakeUps, PendingOperations } from './ui/statusBar.ts';
import { ApiKeysTree } from './ui/tree/apiKeysTree.ts';
import { ComputesTree } from './ui/tree/computesTree.ts';

export function activate(context: ExtensionContext): void {
  const held = new DisposableStore();
  context.subscriptions.push(held);
  const log = held.add(new Log());
  const config = held.add(new Config());
  const secrets = held.add(new Secrets(context.secrets));
  const accounts = held.add(new Accounts(secrets));
  const script = Uri.joinPath(context.extensionUri, 'dist', 'service.js').fsPath;
  const dataDir = Uri.joinPath(context.globalStorageUri, 'local-service').fsPath;
  const localService = held.add(new LocalService({ script, dataDir, secrets, accounts, config, log }));

  const openClient: OpenClient = async (account, key, retries) => {
    const baseUrl = account.local === true ? await localService.ready() : account.baseUrl;
    log.keepOut(key);
    const { Client, fetchFor } = await import('./api/client.ts');
    return new Client({ baseUrl, key, fetch: fetchFor(baseUrl), retries });
  };
  const session = held.add(new Session(accounts, openClient));
  const inventory = held.add(new Inventory(session, () => config.organizationId));
  const apiKeys = held.add(new ApiKeyList(session));
  const onError = (error: unknown) => log.error('Following operations', error);
  const memory = memoryOf(context.workspaceState);
  const tracker = held.add(new OperationTracker({ session, inventory, memory, onError }));
  const changes = new ComputeChanges(session, inventory, tracker);

  const computesView = held.add(new ComputesTree(inventory, log));
  const apiKeysView = held.add(new ApiKeysTree(session, apiKeys));
  const settings = held.add(new SettingsDocuments({ session, inventory, changes }));
  held.add(new PendingOperations(tracker, (end) => settings.show(end)));
  const isFollowed = (id: string) => tracker.pending.some(({ computeId }) => computeId === id);
  held.add(announceWakeUps(held.add(new WakeUps(inventory, isFollowed))));
  held.add(registerProviders({ session, inventory, config, log }));
  held.add(followSession(session));
  held.add(registerTools({ session, inventory, changes, log }));
  const stores = { accounts, session, openClient, inventory, changes, tracker, apiKeys };
  held.add(registerCommands({ ...stores, config, log, localService, computesView, apiKeysView }));

  const refresh = held.add(
    new BackgroundRefresh({
      inventory,
      shown: () => computesView.expandedProjects,
      followed: () => tracker.projects,
      interval: () => config.refreshInterval,
      isNear: () => session.connection?.isNear ?? false,
      onError: (error) => log.error('Refreshing in the background', error),
    }),
  );
  held.add(refreshWhileSeen(refresh, computesView.view, config));
  held.add(warnWithoutKeyring(secrets, log));
  held.add(localService.follow(session));
  void session.start();
}
