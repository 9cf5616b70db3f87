/** What a window knows and can do: the model, with VS Code's settings, storage and log. Uses neither secrets nor network yet. */
import { Uri, type ExtensionContext } from 'vscode';
import type { DisposableStore } from '../base/disposable.ts';
import type { OpenClient } from '../model/account/accountConnection.ts';
import { Accounts } from '../model/account/accounts.ts';
import { ApiKeyList } from '../model/account/apiKeyList.ts';
import { Guards } from '../model/operations/guards.ts';
import { Session } from '../model/account/session.ts';
import { AgentBranches } from '../model/agents/agentBranches.ts';
import { sharedMemory } from '../model/agents/sharedMemory.ts';
import type { SharedMemory } from '../model/memory.ts';
import { ConnectionDefaults } from '../model/connection/connectionDefaults.ts';
import { Inventory } from '../model/inventory/inventory.ts';
import { LastCompute } from '../model/inventory/lastCompute.ts';
import { BranchActions } from '../model/operations/branchActions.ts';
import { ChangeSender } from '../model/operations/changeSender.ts';
import { ComputeActions } from '../model/operations/computeActions.ts';
import { OperationTracker } from '../model/operations/operationTracker.ts';
import { RequestBudget } from '../model/refresh/requestBudget.ts';
import { Schemas } from '../model/schema/schemas.ts';
import { KnownHosts } from '../model/workBranch/knownHosts.ts';
import { LocalService } from './localService/localService.ts';
import { Log } from './log/log.ts';
import { Config } from './state/config.ts';
import { PassFiles } from './passFiles.ts';
import { rotationRecords, unprotectedRecords } from './state/recoveryRecords.ts';
import { secretStore } from './state/secrets.ts';
import { NameOrder } from './text/idAndName.ts';

export type WindowModel = ReturnType<typeof createWindowModel>;

export function createWindowModel(context: ExtensionContext, disposables: DisposableStore) {
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
  const unprotected = unprotectedRecords(context.globalStorageUri);
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
    branchActions: new BranchActions(session, inventory, sender, unprotected),
    rotationRecords: rotationRecords(context.globalStorageUri),
    nameOrder: new NameOrder(context.globalState),
    agentBranches: new AgentBranches(agentMemory(context)),
    knownHosts: new KnownHosts(context.globalState),
    passFiles: disposables.add(new PassFiles(context.globalStorageUri)),
  };
}

/** On disk, for the windows of all profiles, and for agents without a window. Version 0.2 had it in the global state. */
function agentMemory({ globalStorageUri, globalState }: ExtensionContext): SharedMemory {
  const entries = () => globalState.keys().filter((name) => name.startsWith('hostedPostgres.agent'));
  return sharedMemory(Uri.joinPath(globalStorageUri, 'agents').fsPath, () =>
    Object.fromEntries(entries().map((name) => [name, globalState.get(name)])),
  );
}

/** A client of the local service sends requests only while the service runs. */
function clientOpener(localService: LocalService, log: Log): OpenClient {
  return async (account, key, retries) => {
    const isLocal = account.local === true;
    if (isLocal) await localService.ready();
    log.addSecret(key);
    const { Client } = await import('../api/client.ts');
    const fetch = isLocal ? localService.whileRunning(account, globalThis.fetch) : globalThis.fetch;
    return new Client({ baseUrl: account.baseUrl, key, fetch, retries });
  };
}
