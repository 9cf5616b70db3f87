/**
 * The branches behind the hosts of env files, so that the status bar shows them without a request. All windows share the
 * table, which has only hosts that were in an env file.
 */
import type { Compute } from '../../api/records/records.ts';
import { isEqual } from '../../base/equal.ts';
import { Emitter } from '../../base/event.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { pooledHost } from '../connection/connectionStrings.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Memory } from '../memory.ts';
import type { BranchRef } from './branchMap.ts';
import { hostKey } from './databaseUrl.ts';

export interface KnownBranch extends BranchRef {
  readonly projectName: string;
  readonly branchName: string;
  readonly isProtected: boolean;
  readonly expiresAt?: string | undefined;
  readonly isDeleted: boolean;
}

const ENTRY = 'hostedPostgres.knownHosts';
/** The hosts used longest ago are forgotten. */
const MAX_HOSTS = 200;

/** Whether any window has an env file to show or follow. */
export const hasKnownHosts = (memory: Pick<Memory, 'get'>): boolean => read(memory).length > 0;

type KnownInventory = Pick<Inventory, 'allComputes' | 'project' | 'computesOf'> & {
  readonly branches: Pick<Inventory['branches'], 'get' | 'forProject'>;
};

export class KnownHosts {
  readonly #memory: Memory;
  readonly #changed = new Emitter<void>();

  readonly onDidChange = this.#changed.event;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  get(host: string): KnownBranch | undefined {
    return read(this.#memory).find(([known]) => known === hostKey(host))?.[1];
  }

  /** What was last known of a branch, by any of its hosts. */
  find({ account, projectId, branchId }: BranchRef): KnownBranch | undefined {
    return read(this.#memory).find(
      ([, known]) =>
        known.account === account && known.projectId === projectId && known.branchId === branchId,
    )?.[1];
  }

  /** @param computes to remember with their branches, as the inventory knows them */
  async remember(inventory: KnownInventory, account: string, computes: readonly Compute[]): Promise<void> {
    const entries = computes.flatMap((compute) => {
      const branch = knownBranch(inventory, account, compute);
      return hostsOf(compute).map((host) => [host, branch] as const);
    });
    await this.#set(entries);
  }

  /**
   * Updates the known branches of the account from its loaded lists, and adds those of other hosts.
   * @param hosts that are in env files
   */
  async refresh(inventory: KnownInventory, account: string, hosts: readonly string[]): Promise<void> {
    const own = read(this.#memory).filter(([, known]) => known.account === account);
    const wanted = new Set([...own.map(([host]) => host), ...hosts.map(hostKey)]);
    if (wanted.size === 0) return;
    const found = new Map<string, KnownBranch>();
    for (const compute of inventory.allComputes())
      for (const host of hostsOf(compute))
        if (wanted.has(host)) found.set(host, knownBranch(inventory, account, compute));
    const others = own.filter(([host]) => !found.has(host));
    await this.#set([...others.map(([host, known]) => [host, updated(inventory, known)] as const), ...found]);
  }

  async #set(entries: readonly (readonly [string, KnownBranch])[]): Promise<void> {
    const before = new Map(read(this.#memory));
    if (entries.every(([host, known]) => isEqual(before.get(host), known))) return;
    for (const [host] of entries) before.delete(host);
    await this.#memory.update(ENTRY, [...new Map([...before, ...entries])].slice(-MAX_HOSTS));
    this.#changed.fire();
  }
}

function hostsOf(compute: Compute): string[] {
  const pooled = pooledHost(compute);
  return [compute.host, ...(pooled === undefined ? [] : [pooled])].map(hostKey);
}

function knownBranch(inventory: KnownInventory, account: string, compute: Compute): KnownBranch {
  const { project_id: projectId, branch_id: branchId } = compute;
  const branch = inventory.branches.get(projectId, branchId);
  return {
    account,
    projectId,
    branchId,
    projectName: inventory.project(projectId)?.name ?? projectId,
    branchName: branch?.name ?? branchId,
    isProtected: branch?.protected === true,
    ...(branch?.expires_at ? { expiresAt: branch.expires_at } : {}),
    isDeleted: false,
  };
}

/** A branch whose compute is gone, and perhaps the branch too. */
function updated(inventory: KnownInventory, known: KnownBranch): KnownBranch {
  const list = inventory.branches.forProject(known.projectId);
  return list === undefined ? known : { ...known, isDeleted: !list.branches.has(known.branchId) };
}

function read(memory: Pick<Memory, 'get'>): readonly (readonly [string, KnownBranch])[] {
  const stored = memory.get(ENTRY);
  return Array.isArray(stored) ? stored.filter(isEntry) : [];
}

function isEntry(value: unknown): value is readonly [string, KnownBranch] {
  const [host, known] = Array.isArray(value) ? value : [];
  const { account, projectId, projectName, branchId, branchName } = fieldsOf(known);
  return [host, account, projectId, projectName, branchId, branchName].every(
    (text) => typeof text === 'string',
  );
}
