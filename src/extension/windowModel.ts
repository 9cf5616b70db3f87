/**
 * What a window knows and can do: the model, with VS Code's settings, storage and log. Creating it uses neither secrets nor the
 * network.
 */
import { Uri, type ExtensionContext } from 'vscode';
import type { DisposableStore } from '../base/disposable.ts';
import type { OpenClient } from './account/accountConnection.ts';
import { Accounts } from './account/accounts.ts';
import { ApiKeyList } from './signIn/apiKeys/apiKeyList.ts';
import { ChangeGuards } from './operations/guards.ts';
import { Session } from './account/session.ts';
import { AgentBranches } from './inventory/agentBranches.ts';
import { sharedMemory } from './agents/sharedMemory.ts';
import type { SharedMemory } from './window/memory.ts';
import { ConnectionDefaults } from './connection/connectionDefaults.ts';
import { ExpandedProjects } from './inventory/expandedProjects.ts';
import { Inventory } from './inventory/inventory.ts';
import { WhyActiveSentences } from './computes/ui/whyActiveSentences.ts';
import { LastCompute } from './computes/lastCompute.ts';
import { BranchActions } from './branches/branchActions.ts';
import { ChangeSender } from './operations/changeSender.ts';
import { ComputeActions } from './computes/computeActions.ts';
import { OperationTracker } from './operations/operationTracker.ts';
import { RequestBudget } from './inventory/refresh/requestBudget.ts';
import { RowDocuments } from './database/rows/rowDocuments.ts';
import { RehearsalDocuments } from './database/rehearsals/rehearsalDocuments.ts';
import { Schemas } from './database/schema/schemas.ts';
import { Markers } from './history/markers.ts';
import { KnownHosts } from './gitBranch/knownHosts.ts';
import { LocalService } from './signIn/ui/localService.ts';
import { Log } from './window/ui/log.ts';
import { Config } from './window/ui/config.ts';
import { PassFiles } from './connection/ui/passFiles.ts';
import { rotationRecords, unprotectedRecords } from './recoveryRecords.ts';
import { secretStore } from './account/ui/secrets.ts';
import { NameOrder } from './window/ui/idAndName.ts';

export type WindowModel = ReturnType<typeof createWindowModel>;

export function createWindowModel(context: ExtensionContext, disposables: DisposableStore) {
  const log = disposables.add(new Log());
  const config = new Config();
  const memory = context.workspaceState;
  const secrets = secretStore(context.secrets);
  const accounts = disposables.add(new Accounts(secrets));
  const script = Uri.joinPath(context.extensionUri, 'dist', 'service.js').fsPath;
  const dataDir = Uri.joinPath(context.globalStorageUri, 'local-service').fsPath;
  const { version }: { readonly version: string } = context.extension.packageJSON;
  const parts = { script, dataDir, version, secrets, accounts, config, log };
  const localService = disposables.add(new LocalService(parts));
  const openClient = clientOpener(localService, log);
  const session = disposables.add(new Session(accounts, openClient));
  const organizationId = () => config.organizationOf(session.connection?.account);
  const inventory = disposables.add(new Inventory(session, organizationId));
  const budget = new RequestBudget({ isUnlimited: () => session.connection?.isLocal ?? false });
  const onError = (error: unknown) => log.error('Following operations', error);
  const tracker = disposables.add(new OperationTracker({ session, inventory, memory, onError, budget }));
  const sender = new ChangeSender(session, inventory, tracker);
  const unprotected = unprotectedRecords(context.globalStorageUri);
  const shared = agentMemory(context);
  const onMarkerError = (error: unknown) => log.error('Marking a moment', error);
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
    whyActiveSentences: new WhyActiveSentences(session),
    schemas: new Schemas(session),
    rows: new RowDocuments(),
    rehearsals: new RehearsalDocuments(),
    connectionDefaults: new ConnectionDefaults(session, memory),
    lastCompute: new LastCompute(session, memory),
    expandedProjects: new ExpandedProjects(session, memory),
    guards: new ChangeGuards(session, inventory, config),
    computeActions: new ComputeActions(session, inventory, sender),
    branchActions: new BranchActions(session, inventory, sender, unprotected),
    rotationRecords: rotationRecords(context.globalStorageUri),
    nameOrder: new NameOrder(context.globalState),
    agentBranches: new AgentBranches(shared),
    markers: new Markers(shared, { onError: onMarkerError }),
    knownHosts: new KnownHosts(context.globalState),
    passFiles: disposables.add(new PassFiles(context.globalStorageUri)),
  };
}

/** Opens the memory that all profiles, and agents without a window, share on disk. Version 0.2 had it in the global state. */
function agentMemory({ globalStorageUri, globalState }: ExtensionContext): SharedMemory {
  const entries = () => globalState.keys().filter((name) => name.startsWith('hostedPostgres.agent'));
  return sharedMemory(Uri.joinPath(globalStorageUri, 'agents').fsPath, () =>
    Object.fromEntries(entries().map((name) => [name, globalState.get(name)])),
  );
}

/** Returns a function that opens clients. A client of the local service sends requests only while the service runs. */
function clientOpener(localService: LocalService, log: Log): OpenClient {
  return async (account, key, retries) => {
    const isLocal = account.local === true;
    if (isLocal) await localService.join();
    log.addSecret(key);
    const { Client } = await import('../api/client.ts');
    const fetch = isLocal ? localService.fetchWhileRunning(account, globalThis.fetch) : globalThis.fetch;
    return new Client({ baseUrl: account.baseUrl, key, fetch, retries, projectId: account.projectId });
  };
}
