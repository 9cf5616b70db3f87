/**
 * The branches of the hosts in env files, so that the status bar shows them without a request. All windows share the table.
 * It contains only hosts that were in an env file.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Compute } from '../../api/records/records.ts';
import { Emitter } from '../../base/event.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { LocalServiceError } from '../../localService/lease.ts';
import { LOCAL_ACCOUNT } from '../account/accounts.ts';
import type { Session } from '../account/session.ts';
import { parseDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import { pooledHost } from '../../api/addresses/host.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { askForUnlisted, isKnownGone } from '../inventory/branchStatus.ts';
import type { Memory } from '../window/memory.ts';
import { directHost, normalizeHost } from '../../api/addresses/host.ts';
import { withFormerTls, type ReplacedVariable } from './formerTls.ts';
import { hasKnownHosts, KNOWN_HOSTS_ENTRY } from './hasKnownHosts.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';

/** The branch of a host, as it was last seen. */
export interface KnownBranch extends BranchRef {
  readonly projectName: string;
  readonly branchName: string;
  /** Whether this is the host for pooled connections. */
  readonly isPooled: boolean;
  readonly isProtected: boolean;
  readonly expiresAt?: string | undefined;
  readonly isDeleted: boolean;
}

export const isKnownExpired = (known: KnownBranch | undefined, now = Date.now()): boolean =>
  known?.expiresAt !== undefined && Date.parse(known.expiresAt) <= now;

/** Returns why a branch can't be used, as far as it is known without a request. */
export function knownBranchProblem(known: KnownBranch | undefined): 'deleted' | 'expired' | undefined {
  if (known?.isDeleted === true) return 'deleted';
  return isKnownExpired(known) ? 'expired' : undefined;
}

interface ServiceState {
  readonly session: Pick<Session, 'current'>;
  readonly localService: { readonly runs: boolean };
}

/**
 * Whether the branch is of the local service and this window has no connection to that. The service may have ended, or run for other
 * windows.
 */
export function isNotConnected({ account }: KnownBranch, { session, localService }: ServiceState): boolean {
  if (account !== LOCAL_ACCOUNT || localService.runs) return false;
  const { current } = session;
  const hasEnded = current.kind === 'failed' && current.error instanceof LocalServiceError;
  return current.kind === 'signedOut' || hasEnded;
}

/** The most hosts that are remembered. The least recently used ones are dropped. */
const MAX_HOSTS = 200;

type KnownInventory = Pick<
  Inventory,
  'allComputes' | 'computesOf' | 'ensureComputes' | 'project' | 'projects'
> & {
  readonly branches: Pick<Inventory['branches'], 'get' | 'forProject'>;
};

/** Remembers which branch each host in an env file belongs to. */
export class KnownHosts {
  readonly #memory: Memory;
  readonly #changed = new Emitter<void>();

  readonly onDidChange = this.#changed.event;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return !hasKnownHosts(this.#memory);
  }

  get(host: string): KnownBranch | undefined {
    return readStoredHosts(this.#memory).find(([known]) => known === normalizeHost(host))?.[1];
  }

  /** Whether the value of a variable is the URL of a known branch. */
  readonly isOwn = (value: string): boolean => this.get(parseDatabaseUrl(value)?.host ?? '') !== undefined;

  /** Returns the last known data of a branch, from any of its hosts. */
  find(branch: BranchRef): KnownBranch | undefined {
    return readStoredHosts(this.#memory).find(([, known]) => isSameBranch(known, branch))?.[1];
  }

  /** Returns the URL of a branch of the account with parameters for TLS: see `formerTls.ts`. @param before the variable with the URL to replace */
  async withFormerTls(before: ReplacedVariable, url: string, account: string): Promise<string> {
    const known = this.get(parseDatabaseUrl(before.value)?.host ?? '');
    return withFormerTls(this.#memory, { ...before, account: known?.account }, url, account);
  }

  /** @param computes the computes to remember with their branches, as the inventory knows them */
  async remember(inventory: KnownInventory, account: string, computes: readonly Compute[]): Promise<void> {
    await this.#set(computes.flatMap((compute) => this.#entriesOf(inventory, account, compute)));
  }

  /**
   * Updates the known branches of the account from its loaded lists, and adds those of other hosts.
   * @param hosts the hosts that are in env files
   */
  async refresh(inventory: KnownInventory, account: string, hosts: readonly string[]): Promise<void> {
    const own = readStoredHosts(this.#memory).filter(([, known]) => known.account === account);
    const wanted = new Set([...own.map(([host]) => host), ...hosts.map(normalizeHost)]);
    if (wanted.size === 0) return;
    const found = new Map<string, KnownBranch>();
    // Only the computes with these hosts are looked at, because a change of the lists may bring thousands.
    const candidates = wanted.union(new Set([...wanted].map(directHost)));
    const isCandidate = ({ host, pooler_host: pooled }: Compute) =>
      candidates.has(host) || (typeof pooled === 'string' && candidates.has(pooled));
    for (const compute of [...inventory.allComputes()].filter(isCandidate))
      for (const [host, known] of this.#entriesOf(inventory, account, compute))
        if (wanted.has(host)) found.set(host, known);
    const others = own.filter(([host]) => !found.has(host));
    // A reply changes the inventory, after which this is called again.
    const inFiles = new Set(hosts.map(normalizeHost));
    for (const [host, { projectId, isDeleted }] of others)
      if (inFiles.has(host) && !isDeleted) askForUnlisted(inventory, projectId);
    await this.#set([
      ...others.map(([host, known]) => [host, noteDeletion(inventory, known)] as const),
      ...found,
    ]);
  }

  /** Returns the entries for the hosts of a compute. Until the branches are loaded, they have the stored data of the branch. */
  #entriesOf(inventory: KnownInventory, account: string, compute: Compute): [string, KnownBranch][] {
    const { project_id: projectId, branch_id: branchId } = compute;
    const branch = inventory.branches.get(projectId, branchId);
    const stored = this.find({ account, projectId, branchId });
    const expiresAt = branch === undefined ? stored?.expiresAt : branch.expires_at;
    const known = {
      account,
      projectId,
      branchId,
      projectName: inventory.project(projectId)?.name ?? stored?.projectName ?? projectId,
      branchName: branch?.name ?? stored?.branchName ?? branchId,
      isProtected: (branch === undefined ? stored?.isProtected : branch.protected) === true,
      ...(expiresAt ? { expiresAt } : {}),
      isDeleted: false,
    };
    const pooled = pooledHost(compute);
    return [
      [normalizeHost(compute.host), { ...known, isPooled: false }],
      ...(pooled === undefined
        ? []
        : [[normalizeHost(pooled), { ...known, isPooled: true }] as [string, KnownBranch]]),
    ];
  }

  async #set(entries: readonly (readonly [string, KnownBranch])[]): Promise<void> {
    const before = new Map(readStoredHosts(this.#memory));
    if (entries.every(([host, known]) => isDeepStrictEqual(before.get(host), known))) return;
    for (const [host] of entries) before.delete(host);
    await this.#memory.update(KNOWN_HOSTS_ENTRY, [...new Map([...before, ...entries])].slice(-MAX_HOSTS));
    this.#changed.fire();
  }
}

/** Notes whether a branch whose compute was deleted is deleted as well, alone or with its project, as far as the loaded lists show. */
function noteDeletion(inventory: KnownInventory, known: KnownBranch): KnownBranch {
  if (isKnownGone(inventory, known.projectId)) return { ...known, isDeleted: true };
  const list = inventory.branches.forProject(known.projectId);
  return list === undefined ? known : { ...known, isDeleted: !list.isListed(known.branchId) };
}

function readStoredHosts(memory: Pick<Memory, 'get'>): readonly (readonly [string, KnownBranch])[] {
  const stored = memory.get(KNOWN_HOSTS_ENTRY);
  return Array.isArray(stored) ? stored.filter(isStoredHost) : [];
}

function isStoredHost(value: unknown): value is readonly [string, KnownBranch] {
  const [host, known] = Array.isArray(value) ? value : [];
  const { account, projectId, projectName, branchId, branchName } = fieldsOf(known);
  return [host, account, projectId, projectName, branchId, branchName].every(
    (text) => typeof text === 'string',
  );
}
