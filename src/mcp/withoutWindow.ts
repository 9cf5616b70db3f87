/**
 * Runs the tools on the local service while no window of VS Code does. There is no user to ask, so an agent may change only
 * what it has created.
 */
import { Client } from '../api/client.ts';
import { isOutcomeUnknown } from '../api/transport/errors.ts';
import { localFetch } from '../api/transport/localFetch.ts';
import type { Fetch } from '../api/transport/request.ts';
import { Emitter } from '../base/event.ts';
import { hideKnownSecrets, redact } from '../base/redact.ts';
import { createGitRunner } from '../base/git/runGit.ts';
import { sanitize } from '../base/sanitize.ts';
import type { Account } from '../extension/account/accounts.ts';
import { ChangeGuards } from '../extension/operations/guards.ts';
import { Session } from '../extension/account/session.ts';
import { AgentBranches } from '../extension/inventory/agentBranches.ts';
import type { BridgeCall } from '../extension/agents/bridgeMessages.ts';
import { sharedMemory } from '../extension/agents/sharedMemory.ts';
import type { Memory } from '../extension/window/memory.ts';
import { Markers } from '../extension/history/markers.ts';
import { runTool } from '../extension/agents/tools/runTool.ts';
import type { AgentChange, ToolDependencies } from '../extension/agents/tools/toolCall.ts';
import { Inventory } from '../extension/inventory/inventory.ts';
import { BranchActions } from '../extension/branches/branchActions.ts';
import { ChangeSender } from '../extension/operations/changeSender.ts';
import { ComputeActions } from '../extension/computes/computeActions.ts';
import { OperationTracker } from '../extension/operations/operationTracker.ts';
import { RequestBudget } from '../extension/inventory/refresh/requestBudget.ts';
import { Schemas } from '../extension/database/schema/schemas.ts';
import { KnownHosts } from '../extension/gitBranch/knownHosts.ts';
import { findRunningService, type RunningService } from '../localService/findRunning.ts';

let connecting: ReturnType<typeof connectTo> | undefined;

/** Returns the answer of the local service; undefined if no service runs. @throws {Error} with a sentence for the model */
export async function callWithoutWindow(
  { tool, input, agent, folder }: BridgeCall,
  signal: AbortSignal,
): Promise<object | undefined> {
  // If the last attempt failed, for example because the service had just ended, this call makes a new one.
  const attempt = connecting;
  const last = await attempt?.catch(() => undefined);
  // Another call may have begun an attempt in the meantime.
  const isLatest = connecting === attempt;
  if (isLatest && (last === undefined || last.ended.aborted)) connecting = connectTo(folder);
  const connected = await connecting;
  return connected && (await runTool(connected.deps, tool, input, { agent, folder, signal }));
}

async function connectTo(folder: string | undefined) {
  const found = await findRunningService(folder);
  // The program may end when the agent closes its input.
  found?.lease.unref();
  return found && { deps: await createModel(found), ended: found.lease.ended };
}

async function createModel({ memoryFolder, lease }: RunningService): Promise<ToolDependencies> {
  const { baseUrl, key, ended } = lease;
  // After the lease, another program may have the port.
  const fetch: Fetch = (url, init) =>
    localFetch(url, { ...init, signal: AbortSignal.any([ended, init.signal]) });
  const account: Account = { baseUrl, name: '', local: true };
  // The key of the lease is stored nowhere.
  const accounts = {
    list: async () => ({ accounts: [account], current: account }),
    key: async () => key,
    onDidChange: neverFires,
  };
  const session = new Session(accounts, async () => new Client({ baseUrl, key, fetch }));
  const inventory = new Inventory(session, () => undefined);
  const budget = new RequestBudget({ isUnlimited: () => true });
  // Pending changes are forgotten when the program ends.
  const forgotten = { get: ignore, update: async () => undefined };
  const tracker = new OperationTracker({ session, inventory, memory: forgotten, onError: ignore, budget });
  const sender = new ChangeSender(session, inventory, tracker);
  const unprotected = { all: () => [], set: async () => undefined, delete: ignore };
  const memory = sharedMemory(memoryFolder);
  const hosts: Memory = {
    get: (entry) => memory.values()[entry],
    update: async (entry, value) => memory.change((values) => ({ ...values, [entry]: value })),
  };
  // The user's marks are settings of VS Code. The service knows which branches are protected.
  const guards = new ChangeGuards(session, inventory, { marks: {} });
  await session.start();
  return {
    session,
    inventory,
    tracker,
    guards,
    computeActions: new ComputeActions(session, inventory, sender),
    branchActions: new BranchActions(session, inventory, sender, unprotected),
    agentBranches: new AgentBranches(memory),
    markers: new Markers(memory, { onError: ignore }),
    schemas: new Schemas(session),
    knownHosts: new KnownHosts(hosts),
    log: {
      clean: (text) => redact(text, [key]),
      hideKnownSecrets: (text) => hideKnownSecrets(text, [key]),
      info: ignore,
      error: ignore,
    },
    // Without VS Code, no settings of folders are known. So only hosts count that agents have written to their env files.
    envSettings: { folders: () => [], of: () => ({ file: '.env', variable: 'DATABASE_URL' }) },
    runGit: createGitRunner(() => 'git'),
    requireTrust: ignore,
    explain,
    approve,
  };
}

const ignore = (): void => undefined;
/** An event that is never fired. */
const neverFires = new Emitter<void>().event;

/** The most characters of a reason, which may name ten branches. */
const MAX_REASON = 2000;

function explain(error: unknown): string {
  const text = sanitize(error instanceof Error ? error.message : String(error), MAX_REASON);
  return isOutcomeUnknown(error) ? `${text} Check what was done before you try again.` : text;
}

async function approve(change: AgentChange): Promise<void> {
  if (change.kind !== 'create')
    throw new Error(
      'This needs the approval of the user, who can only be asked in a window of VS Code, and none is open. Nothing was changed.',
    );
  if (change.limit === undefined) return;
  const { count, max, branches } = change.limit;
  throw new Error(
    `Agents have ${count} branches in ${change.projectId}, and ${max} is the limit without the approval of the user, who can only be asked in a window of VS Code, and none is open. Delete one of yours that you don't need with deleteBranch: ${branches.join(', ')}. Nothing was created.`,
  );
}
