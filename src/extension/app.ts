/** The stores and views behind what `extension.ts` registers. Each window has its own. */
import {
  env,
  window,
  type EventEmitter,
  type ExtensionContext,
  type FileChangeEvent,
  type TreeView,
  type Uri,
} from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import { keepUnlessRejected } from './window/keepUnlessRejected.ts';
import type { CommandContext } from './commandSupport/context.ts';
import type { RotationRecord } from './signIn/apiKeys/keyRotation.ts';
import type { PendingChange } from './operations/pendingChange.ts';
import { BackgroundRefresh } from './inventory/refresh/backgroundRefresh.ts';
import { detailsText, followDetails } from './browse/ui/detailsDocuments.ts';
import type { DocumentEvents } from './documents.ts';
import { HostProvider } from './connection/ui/hostProvider.ts';
import { protectAbandonedBranches } from './branches/ui/protectAbandoned.ts';
import { offerNewService } from './signIn/ui/offerNewService.ts';
import { reportLostData } from './signIn/ui/reportLostData.ts';
import { announceStarts, showPendingChanges } from './operations/ui/statusBar.ts';
import { followOperations, operationsText } from './browse/ui/operationsDocuments.ts';
import { forgetClosedRows, rowsDocumentText } from './database/ui/rowsDocuments.ts';
import { followSchemas, schemaText } from './database/ui/schemaDocuments.ts';
import { provideRehearsals } from './database/ui/provideRehearsals.ts';
import { rehearseOnSave } from './database/ui/rehearseOnSave.ts';
import { SettingsDocuments } from './computes/ui/settingsDocuments.ts';
import { hideNotOffered } from './window/ui/contextKey.ts';
import { lastAccount, rememberAccountKind } from './account/ui/lastAccount.ts';
import { refreshWhenVisible } from './inventory/ui/refreshWhenVisible.ts';
import { updateContextKeys } from './inventory/ui/updateContextKeys.ts';
import { usesAgents } from './agents/ui/usesAgents.ts';
import { ApiKeysTree, type KeysNode } from './signIn/ui/apiKeysTree.ts';
import type { DatabaseReader } from './inventory/databaseTreeRows.ts';
import { ComputesTree } from './inventory/ui/computesTree.ts';
import type { TreeNode } from './inventory/ui/treeNodes.ts';
import { createWindowModel, type WindowModel } from './windowModel.ts';
import { FirstOffer } from './gitBranch/ui/firstOffer.ts';
import { renewUsedBranches } from './gitBranch/ui/renewal.ts';
import { offerUndoAfterCheckout } from './history/ui/offerUndo.ts';
import { showBranchItem } from './gitBranch/ui/statusItem.ts';
import { WorkFolders } from './gitBranch/ui/workFolders.ts';

/** Created at activation. */
interface ActiveViews {
  readonly computesView: TreeView<TreeNode>;
  readonly apiKeysView: TreeView<KeysNode>;
  /** Changes of settings documents. */
  readonly filesChanged: EventEmitter<FileChangeEvent[]>;
  readonly documents: DocumentEvents;
  /** Whether there is an account. */
  readonly accountChanged: EventEmitter<void>;
  readonly interruptedRotations: readonly RotationRecord[];
}

/** All parts of the extension, which `createApp` connects with each other. */
export type App = ReturnType<typeof createApp>;
type Views = ReturnType<typeof createViews>;

/** Creates the app and connects it. If that fails, nothing is left that the next attempt would find. @throws {Error} */
export async function openApp(
  context: ExtensionContext,
  active: ActiveViews,
  disposables: DisposableStore,
): Promise<App> {
  const parts = new DisposableStore();
  try {
    const opened = createApp(context, active, parts);
    disposables.add(parts);
    await opened.session.start();
    return opened;
  } catch (error) {
    parts.dispose();
    throw error;
  }
}

/** Creating the app uses neither the secret store nor the network: see `Session.start`. */
function createApp(context: ExtensionContext, active: ActiveViews, disposables: DisposableStore) {
  const model = createWindowModel(context, disposables);
  const agentBridge = keepUnlessRejected(async () => {
    const { AgentBridge } = await import('./agents/ui/bridge.ts');
    return disposables.add(new AgentBridge(context, model));
  });
  const { documents } = active;
  const languageModelTool = async (name: string) => (await agentBridge()).languageModelTool(name);
  const views = createViews(model, active, disposables);
  const app = { ...model, ...views, agentBridge, languageModelTool, documents };
  registerListeners(context, app, active, disposables);
  const listenForAgents = () => {
    // Cursor starts MCP servers without asking the extension, so there the first account enables them.
    const isCursor = env.appName === 'Cursor' && lastAccount(context.globalState) !== 'none';
    if (!isCursor && !usesAgents(context.globalStorageUri)) return;
    agentBridge()
      .then((agents) => agents.enable())
      .catch((error: unknown) => model.log.error('Listening for agents', error));
  };
  listenForAgents();
  disposables.add(active.accountChanged.event(listenForAgents));
  // Another window may have enabled agents since.
  disposables.add(window.onDidChangeWindowState(listenForAgents));
  if (active.interruptedRotations.length > 0) void reportRotations(app, active.interruptedRotations);
  return app;
}

async function reportRotations(app: CommandContext, records: readonly RotationRecord[]): Promise<void> {
  const { reportRotation } = await import('./commandHandlers.ts');
  for (const record of records) void reportRotation(app, record);
}

function createViews(
  model: WindowModel,
  { computesView, apiKeysView, filesChanged }: ActiveViews,
  disposables: DisposableStore,
) {
  let hostProvider: HostProvider | undefined;
  const databaseReader: DatabaseReader = {
    objects: async (branch, database) =>
      (await import('./database/commands/readDatabase.ts')).readObjects(model, branch, database),
    columns: async (branch, database, table) =>
      (await import('./database/commands/readDatabase.ts')).readColumns(model, branch, database, table),
  };
  const workFolders = disposables.add(new WorkFolders(model));
  return {
    computesView: disposables.add(new ComputesTree({ ...model, databaseReader, workFolders }, computesView)),
    apiKeysView: disposables.add(new ApiKeysTree(model.apiKeys, apiKeysView)),
    workFolders,
    settingsDocuments: disposables.add(new SettingsDocuments(model, filesChanged)),
    schemaText: (uri: Uri) => schemaText(model.schemas, uri),
    detailsText: (uri: Uri) =>
      detailsText({ ...model, whyActive: (compute) => model.whyActiveSentences.forDocument(compute) }, uri),
    operationsText: (uri: Uri) => operationsText(model, uri),
    rowsText: (uri: Uri) => rowsDocumentText(model.rows, uri),
    /** Created on first use, because it has an index of all hosts. */
    hostProvider: () => (hostProvider ??= disposables.add(new HostProvider(model))),
  };
}

function registerListeners(
  context: ExtensionContext,
  deps: WindowModel & Views,
  { computesView: view, accountChanged, documents }: ActiveViews,
  disposables: DisposableStore,
): void {
  const { session, inventory, tracker, config, log, computesView, budget, settingsDocuments } = deps;
  const revealChange = (change: PendingChange) => {
    const revealed = computesView.reveal(change);
    revealed.catch((error: unknown) => log.error('Showing the compute of a change', error));
  };
  const refresh = new BackgroundRefresh({
    inventory,
    expanded: () => computesView.expandedProjects,
    polledElsewhere: () => tracker.projects,
    interval: () => config.refreshInterval,
    budget,
    onError: (error) => log.error('Refreshing in the background', error),
    onRefreshed: () => computesView.redrawTimes(),
  });
  const subscriptions = [
    showPendingChanges(tracker, (end) => settingsDocuments.handleEnd(end), revealChange),
    followSchemas(deps.schemas, documents.schemasChanged),
    followDetails(deps, documents.detailsChanged),
    followOperations(tracker, documents.operationsChanged),
    forgetClosedRows(deps.rows),
    provideRehearsals(deps.rehearsals),
    rehearseOnSave({
      ...deps,
      // If this imported a file of its own, the bundler would split the chunks that activation loads.
      findProblems: async (...saved) => (await import('./commandHandlers.ts')).rehearseForProblems(...saved),
    }),
    showBranchItem(deps),
    renewUsedBranches(deps),
    new FirstOffer(deps, context.globalState),
    offerUndoAfterCheckout(deps),
    announceStarts(inventory, tracker),
    protectAbandonedBranches(deps),
    session.onDidChange((state) => {
      if (state.kind === 'failed') log.error('Connecting', state.error);
    }),
    deps.sender.onNotOffered(hideNotOffered),
    updateContextKeys(session, inventory),
    rememberAccountKind(session, context.globalState, accountChanged),
    refresh,
    refreshWhenVisible(refresh, view, config),
    deps.localService.follow(session),
    offerNewService(deps.localService),
    reportLostData(deps.localService),
  ];
  for (const each of subscriptions) disposables.add(each);
}
