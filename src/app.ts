/** The stores and views behind what `extension.ts` registers. One per window. */
import {
  env,
  Uri,
  type EventEmitter,
  type ExtensionContext,
  type FileChangeEvent,
  type TreeView,
} from 'vscode';
import type { DisposableStore } from './base/disposable.ts';
import { Accounts } from './model/account/accounts.ts';
import { AgentBranches } from './model/agents/agentBranches.ts';
import { ApiKeyList } from './model/account/apiKeyList.ts';
import { BackgroundRefresh } from './model/refresh/backgroundRefresh.ts';
import { BranchActions } from './model/operations/branchActions.ts';
import { ChangeSender } from './model/operations/changeSender.ts';
import { ComputeActions } from './model/operations/computeActions.ts';
import type { OpenClient } from './model/account/accountConnection.ts';
import { Guards } from './model/account/guards.ts';
import { Inventory } from './model/inventory/inventory.ts';
import { LastCompute } from './model/inventory/lastCompute.ts';
import { RequestBudget } from './model/refresh/requestBudget.ts';
import { ConnectionDefaults } from './model/connection/connectionDefaults.ts';
import { OperationTracker } from './model/operations/operationTracker.ts';
import type { PendingChange } from './model/operations/pendingChange.ts';
import { UnprotectedBranches } from './model/operations/unprotectedBranches.ts';
import { Schemas } from './model/schema/schemas.ts';
import { Session } from './model/account/session.ts';
import type { AgentBridge } from './ui/agents/mcp/bridge.ts';
import { HostProvider } from './ui/editor/hostProvider.ts';
import { KnownHosts } from './model/workBranch/knownHosts.ts';
import { LocalService } from './ui/localService/localService.ts';
import { Log } from './ui/log/log.ts';
import { protectAbandoned } from './ui/notifications/protectAbandoned.ts';
import { rotationRecords, unprotectedRecords } from './ui/state/recoveryRecords.ts';
import { NameOrder } from './ui/text/idAndName.ts';
import { announceStarts, showOperations } from './ui/notifications/statusBar.ts';
import { showRotationNotice } from './ui/notifications/rotationNotice.ts';
import { secretStore } from './ui/state/secrets.ts';
import { SchemaDocuments } from './ui/schema/schemaDocuments.ts';
import { SettingsDocuments } from './ui/settings/settingsDocuments.ts';
import { Config } from './ui/state/config.ts';
import { usesAgents } from './ui/state/usesAgents.ts';
import { PassFiles } from './ui/state/passFiles.ts';
import { hideNotOffered } from './ui/state/contextKey.ts';
import { updateContextKeys } from './ui/state/updateContextKeys.ts';
import { lastAccount, rememberAccount } from './ui/state/lastAccount.ts';
import { refreshWhenVisible } from './ui/state/refreshWhenVisible.ts';
import { ApiKeysTree, type KeysNode } from './ui/tree/apiKeysTree.ts';
import { ComputesTree } from './ui/tree/computesTree.ts';
import type { TreeNode } from './ui/tree/nodes.ts';
import { renewUsedBranches } from './ui/workBranch/renewal.ts';
import { WorkBranchItem } from './ui/workBranch/statusItem.ts';
import { WorkFolders } from './ui/workBranch/workFolders.ts';

/** Created at activation. */
export interface ActiveViews {
  readonly computesView: TreeView<TreeNode>;
  readonly apiKeysView: TreeView<KeysNode>;
  /** Changes of settings documents. */
  readonly filesChanged: EventEmitter<FileChangeEvent[]>;
  readonly schemasChanged: EventEmitter<Uri>;
  /** Whether there is an account. */
  readonly accountChanged: EventEmitter<void>;
}

export type App = ReturnType<typeof createApp>;
type Model = ReturnType<typeof createModel>;
type Views = ReturnType<typeof createViews>;

/** Uses neither the secret store nor the network: see `Session.start`. */
export function createApp(context: ExtensionContext, active: ActiveViews, disposables: DisposableStore) {
  const model = createModel(context, disposables);
  let bridge: Promise<AgentBridge> | undefined;
  const createBridge = async () => {
    const { AgentBridge } = await import('./ui/agents/mcp/bridge.ts');
    return disposables.add(new AgentBridge(context, model));
  };
  const agentBridge = () => (bridge ??= createBridge());
  const app = { ...model, ...createViews(model, active, disposables), agentBridge };
  registerListeners(context, app, active, disposables);
  const listenForAgents = () => {
    // Cursor starts MCP servers without asking the extension, so there the first account enables them.
    const isCursor = env.appName === 'Cursor' && lastAccount(context.globalState) !== 'none';
    if (!isCursor && !usesAgents(context.globalState)) return;
    agentBridge()
      .then((agents) => (isCursor ? agents.enable() : agents.listen()))
      .catch((error: unknown) => model.log.error('Listening for agents', error));
  };
  listenForAgents();
  disposables.add(active.accountChanged.event(listenForAgents));
  for (const record of app.rotationRecords.all()) void showRotationNotice(app.rotationRecords, record);
  return app;
}

function createModel(context: ExtensionContext, disposables: DisposableStore) {
  const log = disposables.add(new Log());
  const config = new Config();
  const memory = context.workspaceState;
  const secrets = secretStore(context.secrets);
  const accounts = disposables.add(new Accounts(secrets));
  const script = Uri.joinPath(context.extensionUri, 'dist', 'service.js').fsPath;
  const dataDir = Uri.joinPath(context.globalStorageUri, 'local-service').fsPath;
  const localService = disposables.add(new LocalService({ script, dataDir, secrets, accounts, config, log }));
  const openClient = clientOpener(localService, log);
  const session = disposables.add(new Session(accounts, openClient));
  const organizationId = () => config.organizationOf(session.connection?.account);
  const inventory = disposables.add(new Inventory(session, organizationId));
  const budget = new RequestBudget({ isUnlimited: () => session.connection?.isLocal ?? false });
  const onError = (error: unknown) => log.error('Following operations', error);
  const tracker = disposables.add(new OperationTracker({ session, inventory, memory, onError, budget }));
  const sender = new ChangeSender(session, inventory, tracker);
  const unprotected = new UnprotectedBranches(unprotectedRecords(context.globalStorageUri));
  return {
    extensionUri: context.extensionUri,
    log,
    config,
    accounts,
    localService,
    openClient,
    session,
    inventory,
    budget,
    tracker,
    sender,
    apiKeys: disposables.add(new ApiKeyList(session)),
    schemas: new Schemas(session),
    connectionDefaults: new ConnectionDefaults(session, memory),
    lastCompute: new LastCompute(session, memory),
    guards: new Guards(session, inventory, config),
    computeActions: new ComputeActions(session, inventory, sender),
    unprotected,
    branchActions: new BranchActions(session, inventory, sender, unprotected),
    rotationRecords: rotationRecords(context.globalStorageUri),
    nameOrder: new NameOrder(context.globalState),
    agentBranches: new AgentBranches(context.globalState),
    knownHosts: new KnownHosts(context.globalState),
    passFiles: disposables.add(new PassFiles(context.globalStorageUri)),
  };
}

function createViews(
  model: Model,
  { computesView, apiKeysView, filesChanged, schemasChanged }: ActiveViews,
  disposables: DisposableStore,
) {
  let hostProvider: HostProvider | undefined;
  return {
    computesView: disposables.add(new ComputesTree(model, computesView)),
    apiKeysView: disposables.add(new ApiKeysTree(model.apiKeys, apiKeysView)),
    workFolders: disposables.add(new WorkFolders(model)),
    settingsDocuments: disposables.add(new SettingsDocuments(model, filesChanged)),
    schemaDocuments: disposables.add(new SchemaDocuments(model.schemas, schemasChanged)),
    /** Created on first use, because it has an index of all hosts. */
    hostProvider: () => (hostProvider ??= disposables.add(new HostProvider(model))),
    languageModelTool: async (name: string) =>
      (await import('./ui/agents/languageModelTools.ts')).languageModelTool(model, name),
  };
}

function registerListeners(
  context: ExtensionContext,
  deps: Model & Views,
  { computesView: view, accountChanged }: ActiveViews,
  disposables: DisposableStore,
): void {
  const { session, inventory, tracker, config, log, computesView, budget, settingsDocuments } = deps;
  const reveal = (change: PendingChange) => {
    const revealed = computesView.revealById(change);
    revealed.catch((error: unknown) => log.error('Showing the compute of a change', error));
  };
  const refresh = new BackgroundRefresh({
    inventory,
    expanded: () => computesView.expandedProjects,
    polledElsewhere: () => tracker.projects,
    interval: () => config.refreshInterval,
    isLocal: () => session.connection?.isLocal ?? false,
    budget,
    onError: (error) => log.error('Refreshing in the background', error),
  });
  const subscriptions = [
    showOperations(tracker, (end) => settingsDocuments.handleEnd(end), reveal),
    new WorkBranchItem(deps),
    renewUsedBranches(deps),
    announceStarts(inventory, tracker),
    protectAbandoned(deps),
    deps.sender.onNotOffered(hideNotOffered),
    updateContextKeys(session, inventory),
    rememberAccount(session, context.globalState, accountChanged),
    refresh,
    refreshWhenVisible(refresh, view, config),
    deps.localService.follow(session),
  ];
  for (const each of subscriptions) disposables.add(each);
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
