/**
 * Finds loaded computes by host or id, and searches them by text. Updated with each change of the inventory, so that a
 * hover takes one lookup, and a keystroke one text search per compute.
 */
import type { Compute } from '../../api/records/records.ts';
import type { Disposable } from '../../base/disposable.ts';
import { pooledHost } from '../connection/connectionStrings.ts';
import type { HostAtPosition } from '../connection/hostAtPosition.ts';
import { nameOf } from './branchStatus.ts';
import type { Inventory } from './inventory.ts';
import { projectsOf, type InventoryEvent } from './nodes.ts';

/** A compute at one of its hosts. */
export interface ComputeHost {
  readonly compute: Compute;
  readonly host: string;
  readonly isPooled: boolean;
}

export interface HostMatch extends ComputeHost {
  /** Whether the port in the text is part of the compute's host. */
  readonly withPort: boolean;
}

interface HostMatches {
  readonly hosts: readonly ComputeHost[];
  /** Whether there are further matches. */
  readonly hasMore: boolean;
}

interface IndexEntry {
  readonly compute: Compute;
  readonly projectName: string;
  readonly branchName: string;
  readonly hosts: readonly ComputeHost[];
  /** The text that is searched, in lower case. */
  readonly text: string;
}

export class ComputeIndex implements Disposable {
  readonly #inventory: Inventory;
  readonly #subscription: Disposable;
  readonly #byKey = new Map<string, ComputeHost>();
  readonly #byProject = new Map<string, ReadonlyMap<string, IndexEntry>>();

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
    this.#subscription = inventory.onDidChange((changes) => this.#handleChanges(changes));
    const loaded = [...inventory.allComputes()].map((compute) => compute.project_id);
    for (const projectId of new Set(loaded)) this.#update(projectId);
  }

  /** Finds a compute by its host, pooled host or id. */
  find({ host, port }: Pick<HostAtPosition, 'host' | 'port'>): HostMatch | undefined {
    const name = host === 'localhost' ? '127.0.0.1' : host;
    const exact = port === undefined ? undefined : this.#byKey.get(`${name}:${port}`);
    if (exact !== undefined) return { ...exact, withPort: true };
    const id = name.replace(/\..*$/, '').replace(/-pooler$/, '');
    const found = this.#byKey.get(name) ?? this.#byKey.get(id);
    return found && { ...found, withPort: false };
  }

  /** Hosts that start with the text come first, then computes with the text in a name. */
  search(query: string, maxMatches: number): HostMatches {
    const text = query.toLowerCase();
    const [byPrefix, byName]: [ComputeHost[], ComputeHost[]] = [[], []];
    for (const entries of this.#byProject.values()) {
      if (byPrefix.length > maxMatches) break;
      for (const entry of entries.values()) {
        if (entry.text.startsWith(text)) byPrefix.push(...entry.hosts);
        else if (byName.length <= maxMatches && entry.text.includes(text)) byName.push(...entry.hosts);
      }
    }
    const hosts = [...byPrefix, ...byName];
    return { hosts: hosts.slice(0, maxMatches), hasMore: hosts.length > maxMatches };
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  #handleChanges(changes: readonly InventoryEvent[]): void {
    if (changes.some(({ kind }) => kind === 'all')) {
      this.#byKey.clear();
      this.#byProject.clear();
    }
    for (const projectId of projectsOf(changes)) this.#update(projectId);
  }

  #update(projectId: string): void {
    const before = this.#byProject.get(projectId);
    const computes = this.#inventory.computesOf(projectId)?.computes;
    const projectName = this.#inventory.project(projectId)?.name ?? '';
    const entries = new Map<string, IndexEntry>();
    const added: IndexEntry[] = [];
    for (const [id, compute] of computes ?? []) {
      const old = before?.get(id);
      const branchName = nameOf(this.#inventory.branches.get(projectId, compute.branch_id)) ?? '';
      const isSame =
        old?.compute === compute && old.projectName === projectName && old.branchName === branchName;
      const entry = isSame ? old : entryOf(compute, projectName, branchName);
      entries.set(id, entry);
      if (!isSame) added.push(entry);
    }
    for (const [id, entry] of before ?? []) if (entries.get(id) !== entry) this.#forget(entry);
    for (const entry of added) this.#add(entry);
    this.#byProject.set(projectId, entries);
  }

  #add({ compute, hosts }: IndexEntry): void {
    for (const host of hosts) this.#byKey.set(host.host.toLowerCase(), host);
    const [direct] = hosts;
    if (direct !== undefined) this.#byKey.set(compute.id, direct);
  }

  /** Removes the keys of an entry, except those that now belong to another compute. */
  #forget({ compute, hosts }: IndexEntry): void {
    for (const key of [compute.id, ...hosts.map(({ host }) => host.toLowerCase())]) {
      if (this.#byKey.get(key)?.compute === compute) this.#byKey.delete(key);
    }
  }
}

function entryOf(compute: Compute, projectName: string, branchName: string): IndexEntry {
  const pooled = pooledHost(compute);
  const hosts: ComputeHost[] = [{ compute, host: compute.host, isPooled: false }];
  if (pooled !== undefined) hosts.push({ compute, host: pooled, isPooled: true });
  const names = [compute.branch_id, compute.name, projectName, branchName];
  // Most hosts contain the id. Shorter texts are faster to search.
  if (!compute.host.includes(compute.id)) names.push(compute.id);
  const text = [compute.host, ...names, pooled].join(' ').toLowerCase();
  return { compute, projectName, branchName, hosts, text };
}
