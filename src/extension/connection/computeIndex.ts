/**
 * Finds loaded computes by host or id, and searches them by text. A project is indexed again with each change of it, so that a
 * hover takes one lookup per project, and a keystroke one text search per compute.
 */
import type { Compute } from '../../api/records/records.ts';
import type { Disposable } from '../../base/disposable.ts';
import { directHost, normalizeHost } from '../../api/addresses/host.ts';
import { pooledHost } from '../../api/addresses/host.ts';
import type { HostAtPosition } from './hostAtPosition.ts';
import { nameUnlessId } from '../inventory/names.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { changedProjects } from '../inventory/nodes.ts';

/** A compute at one of its hosts. */
export interface ComputeHost {
  readonly compute: Compute;
  readonly host: string;
  readonly isPooled: boolean;
}

/** A compute to which a host in a text belongs. */
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
  /** The direct host comes first, then the pooled one. */
  readonly hosts: readonly ComputeHost[];
  /** The text that is searched, in lower case. */
  readonly text: string;
}

interface ProjectIndex {
  /** A later update has a higher number. */
  readonly update: number;
  readonly entries: readonly IndexEntry[];
  /** The hosts of computes by host and by id. */
  readonly byKey: ReadonlyMap<string, ComputeHost>;
}

/** The loaded computes, by host and id, and as text to search. */
export class ComputeIndex implements Disposable {
  readonly #inventory: Inventory;
  readonly #subscription: Disposable;
  readonly #projects = new Map<string, ProjectIndex>();
  #updates = 0;

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
    this.#subscription = inventory.onDidChange((changes) => {
      if (changes.some(({ kind }) => kind === 'all')) this.#projects.clear();
      for (const projectId of changedProjects(changes)) this.#update(projectId);
    });
    const loaded = [...inventory.allComputes()].map((compute) => compute.project_id);
    for (const projectId of new Set(loaded)) this.#update(projectId);
  }

  /** Finds a compute by its host, pooled host or id. */
  find({ host, port }: Pick<HostAtPosition, 'host' | 'port'>): HostMatch | undefined {
    const name = normalizeHost(host);
    const exact = port === undefined ? undefined : this.#lookUp(`${name}:${port}`);
    if (exact !== undefined) return { ...exact, withPort: true };
    const id = directHost(name).replace(/\..*$/, '');
    const found = this.#lookUp(name) ?? this.#lookUp(id);
    return found && { ...found, withPort: false };
  }

  /** Hosts that start with the text come first, then computes with the text in a name. */
  search(query: string, maxMatches: number): HostMatches {
    const text = query.toLowerCase();
    const [byPrefix, byName]: [ComputeHost[], ComputeHost[]] = [[], []];
    for (const { entries } of this.#projects.values()) {
      if (byPrefix.length > maxMatches) break;
      for (const entry of entries) {
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

  /** The local service may give the port of a deleted compute to one of another project, so the latest list counts. */
  #lookUp(key: string): ComputeHost | undefined {
    let [found, latest]: [ComputeHost | undefined, number] = [undefined, 0];
    for (const { byKey, update } of this.#projects.values()) {
      const host = byKey.get(key);
      if (host !== undefined && update > latest) [found, latest] = [host, update];
    }
    return found;
  }

  #update(projectId: string): void {
    const projectName = this.#inventory.project(projectId)?.name;
    const byKey = new Map<string, ComputeHost>();
    const entries: IndexEntry[] = [];
    for (const compute of this.#inventory.computesOf(projectId)?.computes.values() ?? []) {
      const branchName = nameUnlessId(this.#inventory.branches.get(projectId, compute.branch_id));
      const direct = { compute, host: compute.host, isPooled: false };
      const pooled = pooledHost(compute);
      const hosts = pooled === undefined ? [direct] : [direct, { compute, host: pooled, isPooled: true }];
      for (const host of hosts) byKey.set(host.host.toLowerCase(), host);
      byKey.set(compute.id, direct);
      const names = [compute.branch_id, compute.name, projectName, branchName];
      // Most hosts contain the id. Shorter texts are faster to search.
      if (!compute.host.includes(compute.id)) names.push(compute.id);
      entries.push({ hosts, text: [compute.host, ...names, pooled].join(' ').toLowerCase() });
    }
    this.#projects.set(projectId, { entries, byKey, update: (this.#updates += 1) });
  }
}
