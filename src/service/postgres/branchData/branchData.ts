/** The data directories of branches. Each is created when it is first needed and used by one server at a time. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Emitter } from '../../../base/event.ts';
import { limitConcurrency } from '../../../base/limitConcurrency.ts';
import { EngineError, type BranchCatalog, type BranchOwner } from '../../core/computeEngine.ts';
import type { StandbySettings } from '../server/settings.ts';
import { BranchLock } from './branchLock.ts';
import { isThere, writePrivateFile } from '../storage/privateFiles.ts';
import { hasHistory, keptWalSettings, templateBase, writeHistory } from '../history/history.ts';
import { readOrCreateBranchLogin, type OwnerLogin } from '../roles/logins.ts';
import { sampleStatements } from '../template/sampleData.ts';
import { recordData } from '../template/syncToDisk.ts';
import {
  createRootData,
  readDatabaseId,
  ensureClusterTemplate,
  type EngineDependencies,
  type NewRootData,
} from '../template/clusterTemplate.ts';
import type { Postmaster } from '../server/postmaster.ts';

/** What all code needs that works on the data of branches. */
export interface ServerDependencies extends EngineDependencies {
  readonly branches: BranchData;
}

/** Creates the data of branches, and knows which servers run on it. */
export class BranchData {
  readonly #deps: EngineDependencies;
  readonly #locks = new Map<string, BranchLock>();
  readonly #primaries = new Map<string, Postmaster>();
  readonly #primaryStarted = new Emitter<string>();
  /** Fires with the id of the branch. */
  readonly onPrimaryStart = this.#primaryStarted.event;
  /** The first branch that needs the template creates it; others wait for it. */
  readonly #templateLock = limitConcurrency(1);
  /**
   * The id of the database that the template begins with, once it was asked for. In a temporary service, it is known only once the
   * first branch was made, so it also shows whether there was one.
   */
  #databaseId: number | undefined;

  constructor(deps: EngineDependencies) {
    this.#deps = deps;
  }

  /** Returns the lock of the branch's data. */
  lock(branchId: string): BranchLock {
    const lock = this.#locks.get(branchId) ?? new BranchLock();
    this.#locks.set(branchId, lock);
    return lock;
  }

  /** Resolves when no work is left. */
  async waitUntilIdle(): Promise<void> {
    const doNothing = async () => undefined;
    await Promise.all([...this.#locks.values()].map(async (lock) => lock.exclusive(doNothing)));
    await this.#templateLock(doNothing);
  }

  /** Returns the branch's running primary. It can change once the lock is released. */
  primary(branchId: string): Postmaster | undefined {
    return this.#primaries.get(branchId);
  }

  /** Records the branch's running primary until it ends. Call it while the lock is held under which the primary was started. */
  setPrimary(branchId: string, server: Postmaster): void {
    this.#primaries.set(branchId, server);
    void server.ended.then(() => {
      if (this.#primaries.get(branchId) === server) this.#primaries.delete(branchId);
    });
    this.#primaryStarted.fire(branchId);
  }

  /** Returns what the branch's data requires of its read replicas; undefined if no primary has run on it. */
  standbySettings(branchId: string): StandbySettings | undefined {
    try {
      return JSON.parse(readFileSync(this.#settingsFile(branchId), 'utf8'));
    } catch {
      return undefined;
    }
  }

  /** Call it before a primary is started with these settings. */
  saveStandbySettings(branchId: string, settings: StandbySettings): void {
    if (!isDeepStrictEqual(settings, this.standbySettings(branchId)))
      writePrivateFile(this.#settingsFile(branchId), JSON.stringify(settings));
  }

  folder(branchId: string): string {
    return path.join(this.#deps.storage.branch(branchId), 'data');
  }

  /** Returns a text that changes each time that a server runs on the branch's data. */
  dataVersion(branchId: string): string {
    const control = path.join(this.folder(branchId), 'global', 'pg_control');
    return String(statSync(control, { bigint: true }).mtimeNs);
  }

  /**
   * Returns the branch's data directory, which is created if it's missing. The caller holds or shares the branch's lock.
   * @param keepsHistory whether new data keeps a history. If the project keeps none after all, the history is removed later
   * @throws {EngineError} also if another version of Postgres has written the data
   */
  async ensureDataDir(branchId: string, keepsHistory = true): Promise<string> {
    const dataDir = this.folder(branchId);
    await this.lock(branchId).creation(async () => {
      if (this.hasData(branchId)) return;
      const login = this.login(branchId);
      const folder = path.dirname(dataDir);
      // The file is written before any server writes WAL, so that the history begins with the first byte.
      if (keepsHistory && !this.#deps.isTemporary) writeHistory(folder, []);
      const content = sampleStatements(this.#deps.storage.root, branchId);
      await this.#create({ dataDir, owner: login, settings: keptWalSettings(folder), content });
      // Only data of a temporary service, which keeps no history, may be made without the template.
      if (hasHistory(folder))
        writeHistory(folder, [
          templateBase(this.#deps.storage.clusterTemplate(this.#deps.binaries.major), dataDir),
        ]);
      await recordData(this.#deps, branchId);
    });
    this.#checkVersion(branchId, dataDir);
    return dataDir;
  }

  /** Returns the login of the branch's owner, which the first call creates. */
  login(branchId: string, owner?: BranchOwner): OwnerLogin {
    return readOrCreateBranchLogin(this.#deps.storage.branch(branchId), owner);
  }

  /**
   * Whether the branch has data. A branch without a parent gets its data when that is first needed.
   * @throws {EngineError} if it had data, so that it doesn't get an empty database instead
   */
  hasData(branchId: string): boolean {
    const dataDir = this.folder(branchId);
    if (isThere(dataDir)) return true;
    if (!this.#deps.storage.hasHadData(branchId)) return false;
    throw new EngineError(
      `The data of branch ${branchId} is missing: there is no folder ${dataDir}. ` +
        'Put it back while the service is stopped, such as from a backup, or delete the branch',
    );
  }

  /**
   * Returns what the catalog of a new branch will be: that of the template, with its own owner. Doesn't wait for the branch's data, except
   * for the first branch of a temporary service.
   * @throws {EngineError}
   */
  async predictCatalog(branchId: string, owner?: BranchOwner): Promise<BranchCatalog> {
    const { role, database, password } = this.login(branchId, owner);
    const id = await this.#ensureDatabaseId(branchId);
    return {
      databases: [{ id, name: database, owner: role }],
      roles: [{ name: role, canLogin: true }],
      password,
    };
  }

  /** Forgets a branch that is deleted. */
  forget(branchId: string): void {
    this.#locks.delete(branchId);
  }

  /** A temporary service has no template before its second branch, so its first one is created to learn the id. */
  async #ensureDatabaseId(branchId: string): Promise<number> {
    if (this.#deps.isTemporary && this.#databaseId === undefined)
      await this.lock(branchId).shared(async () => this.ensureDataDir(branchId));
    return this.#templateLock(
      async () => (this.#databaseId ??= readDatabaseId(await ensureClusterTemplate(this.#deps))),
    );
  }

  /**
   * Creates the data of a branch without a parent. Most temporary services have one branch, so the first gets its data without a
   * template: a copy would create a thousand files more.
   */
  async #create(branch: NewRootData): Promise<void> {
    const deps = this.#deps;
    const template = await this.#templateLock(async () => {
      const isFirst = deps.isTemporary && this.#databaseId === undefined;
      if (!isFirst) return ensureClusterTemplate(deps);
      await createRootData(deps, branch, undefined);
      this.#databaseId = readDatabaseId(branch.dataDir);
      return undefined; // The data exists now.
    });
    if (template !== undefined) await createRootData(deps, branch, template);
  }

  #settingsFile(branchId: string): string {
    return path.join(this.#deps.storage.branch(branchId), 'standby.json');
  }

  #checkVersion(branchId: string, dataDir: string): void {
    const { major } = this.#deps.binaries;
    const version = Number(readFileSync(path.join(dataDir, 'PG_VERSION'), 'utf8'));
    if (version === major) return;
    throw new EngineError(
      `Branch ${branchId} has data of Postgres ${version}, but the Postgres found is ${major}: ` +
        `name the folder of a Postgres ${version}, or use another data directory`,
    );
  }
}
