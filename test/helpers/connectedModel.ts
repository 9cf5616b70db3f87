/**
 * Creates the model connected to a scripted service, wired as in the extension, until the end of the test. Secrets and memory
 * are maps.
 */
import { Client } from '../../src/api/client.ts';
import { DisposableStore } from '../../src/base/disposable.ts';
import { Accounts, type Account } from '../../src/extension/account/accounts.ts';
import { ChangeGuards } from '../../src/extension/operations/guards.ts';
import { type Mark } from '../../src/extension/window/marks.ts';
import { AgentBranches } from '../../src/extension/inventory/agentBranches.ts';
import { BranchActions } from '../../src/extension/branches/branchActions.ts';
import { ChangeSender, type SendOptions } from '../../src/extension/operations/changeSender.ts';
import { ComputeActions } from '../../src/extension/computes/computeActions.ts';
import { Markers } from '../../src/extension/history/markers.ts';
import { Inventory } from '../../src/extension/inventory/inventory.ts';
import { RequestBudget } from '../../src/extension/inventory/refresh/requestBudget.ts';
import type {
  Memory,
  RecoveryRecords,
  SharedMemory,
  SharedValues,
} from '../../src/extension/window/memory.ts';
import { OperationTracker } from '../../src/extension/operations/operationTracker.ts';
import { Schemas } from '../../src/extension/database/schema/schemas.ts';
import { KnownHosts } from '../../src/extension/gitBranch/knownHosts.ts';
import { Session } from '../../src/extension/account/session.ts';
import { atEndOfTest } from './atEndOfTest.ts';
import { FakeClock } from './fakeClock.ts';
import { scriptService, type Script, type ScriptedService } from './scriptedService.ts';
import { SecretMap } from './secretMap.ts';

export class MemoryMap implements Memory, SharedMemory {
  readonly entries = new Map<string, unknown>();

  get(entry: string): unknown {
    return this.entries.get(entry);
  }

  async update(entry: string, value: unknown): Promise<void> {
    // As VS Code does: what comes back after a reload went through JSON.
    if (value === undefined) this.entries.delete(entry);
    else this.entries.set(entry, JSON.parse(JSON.stringify(value)));
  }

  values(): SharedValues {
    return Object.fromEntries(this.entries);
  }

  change(next: (before: SharedValues) => SharedValues): void {
    for (const [entry, value] of Object.entries(next(this.values()))) void this.update(entry, value);
  }
}

export class RecoveryRecordMap<T> implements RecoveryRecords<T> {
  readonly entries = new Map<string, T>();

  all(): readonly T[] {
    return [...this.entries.values()];
  }

  async set(id: string, record: T): Promise<void> {
    this.entries.set(id, JSON.parse(JSON.stringify(record)));
  }

  delete(id: string): void {
    this.entries.delete(id);
  }
}

export interface ConnectedModel {
  readonly account: Account;
  readonly secrets: SecretMap;
  readonly accounts: Accounts;
  readonly session: Session;
  readonly inventory: Inventory;
  readonly tracker: OperationTracker;
  /** The marks of projects and accounts. Tests write here. */
  readonly marks: Record<string, Mark>;
  readonly guards: ChangeGuards;
  readonly computeActions: ComputeActions;
  readonly branchActions: BranchActions;
  readonly agentBranches: AgentBranches;
  readonly markers: Markers;
  readonly schemas: Schemas;
  readonly knownHosts: KnownHosts;
  readonly sender: ChangeSender;
  /** The options of a change that begins now. */
  readonly options: SendOptions;
  readonly clock: FakeClock;
  readonly errors: unknown[];
  dispose(): void;
}

interface ModelOptions {
  readonly memory?: Memory;
  readonly agentMemory?: SharedMemory;
  readonly clock?: FakeClock;
  readonly secrets?: SecretMap;
  readonly key?: string;
  readonly budget?: RequestBudget;
  /** The options of the client, which by default doesn't retry, so that the test sees each reply. */
  readonly client?: Partial<ConstructorParameters<typeof Client>[0]>;
}

export async function connectModel(
  { baseUrl }: Pick<ScriptedService, 'baseUrl'>,
  options: ModelOptions = {},
): Promise<ConnectedModel> {
  const { memory = new MemoryMap(), clock = new FakeClock(), secrets = new SecretMap() } = options;
  const { budget = new RequestBudget({ clock }), agentMemory = new MemoryMap() } = options;
  const disposables = new DisposableStore();
  atEndOfTest(() => disposables.dispose());
  const account: Account = { baseUrl, name: '' };
  const accounts = disposables.add(new Accounts(secrets));
  await accounts.add(account, options.key ?? 'key');
  const open = async ({ baseUrl: address }: Account, key: string) =>
    new Client({ baseUrl: address, key, fetch: globalThis.fetch, retries: 0, ...options.client });
  const session = disposables.add(new Session(accounts, open));
  const inventory = disposables.add(new Inventory(session, () => undefined));
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const tracker = disposables.add(
    new OperationTracker({ session, inventory, memory, clock, onError, budget, random: () => 1 }),
  );
  const marks: Record<string, Mark> = {};
  const guards = new ChangeGuards(session, inventory, { marks }, clock);
  const sender = new ChangeSender(session, inventory, tracker);
  const computeActions = new ComputeActions(session, inventory, sender);
  await session.start();
  const stores = {
    account,
    secrets,
    accounts,
    session,
    inventory,
    tracker,
    marks,
    guards,
    computeActions,
    branchActions: new BranchActions(session, inventory, sender, new RecoveryRecordMap()),
    agentBranches: new AgentBranches(agentMemory),
    markers: new Markers(agentMemory, { onError }),
    schemas: new Schemas(session),
    knownHosts: new KnownHosts(memory),
    sender,
  };
  return {
    ...stores,
    clock,
    errors,
    get options() {
      return { initialConnection: session.connection };
    },
    dispose: () => disposables.dispose(),
  };
}

export interface ScriptedModel extends ConnectedModel {
  readonly service: ScriptedService;
}

/** Creates the model connected to a new service with these replies. Both end with the test. */
export async function connectScripted(script: Script, options: ModelOptions = {}): Promise<ScriptedModel> {
  const service = await scriptService(script);
  return Object.assign(await connectModel(service, options), { service });
}
