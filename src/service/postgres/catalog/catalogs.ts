/** The databases and roles of branches, read and changed without waking a compute. */
import { runInBatches } from '../../core/inBatches.ts';
import type Client from 'pg/lib/client.js';
import type { Moment } from '../../core/branchHistory.ts';
import {
  ONLY_ROLE,
  type BranchCatalog,
  type BranchSchema,
  type CatalogCommand,
  type SchemaFormat,
} from '../../core/computeEngine.ts';
import type { ServerDependencies } from '../branchData/branchData.ts';
import { readAtMoment } from '../copies/recoverTo.ts';
import { RolePasswords } from '../roles/rolePasswords.ts';
import { withSuperuser } from '../server/superuser.ts';
import type { Postmaster } from '../server/postmaster.ts';
import { withBranchServer } from '../branchData/branchServer.ts';
import { applyCatalogChange, queryCatalog, type CatalogRows } from './catalogStatements.ts';
import { dumpSchema } from './pgDump.ts';
import { readTables } from './readTables.ts';

interface CatalogReader<T, Result> {
  readonly read: (server: Postmaster) => Promise<T>;
  /** Returns what was read before. Called while no server runs. */
  readonly cached: () => T | undefined;
  /** Called after the read. If a server was started for it and nothing else uses that server, called after the server has ended. */
  readonly use: (found: T) => Result;
}

/** Reads and changes the databases and roles of branches. */
export class Catalogs {
  readonly #deps: ServerDependencies;
  /** The catalogs of branches without a running server, so that the next read starts none. */
  readonly #idle = new Map<string, { readonly version: string; readonly rows: CatalogRows }>();

  /** Reads of a server that are requested while one runs share the next one. */
  readonly #reads = new WeakMap<Postmaster, (ask: undefined) => Promise<CatalogRows>>();

  constructor(deps: ServerDependencies) {
    this.#deps = deps;
  }

  /** @throws {EngineError} or an error of Postgres or of the file system */
  async read(branchId: string, passwordOf?: string | typeof ONLY_ROLE): Promise<BranchCatalog> {
    if (!this.#deps.branches.hasData(branchId)) return this.#readNew(branchId, passwordOf);
    return this.#withServer(branchId, {
      read: async (server) => this.#readRows(server),
      cached: () => this.#rowsOfIdle(branchId),
      use: (rows) => {
        this.#remember(branchId, rows);
        const passwords = this.#passwords(branchId);
        const asked = findAskedRole(passwordOf, rows.roles);
        return toCatalog(rows, passwords, passwords.find(asked?.name ?? '', asked?.verifier ?? null));
      },
    });
  }

  async #readRows(server: Postmaster): Promise<CatalogRows> {
    const read =
      this.#reads.get(server) ??
      runInBatches(async () => withSuperuser(this.#deps, server.address, queryCatalog));
    this.#reads.set(server, read);
    return read(undefined);
  }

  /** @throws {EngineError} or an error of Postgres or of the file system */
  async schema(
    branchId: string,
    database: string,
    format: SchemaFormat,
    moment?: Moment,
  ): Promise<BranchSchema> {
    const read = async (server: Postmaster): Promise<BranchSchema> =>
      format === 'sql'
        ? { sql: await dumpSchema(this.#deps, server.address, database) }
        : { json: { tables: await withSuperuser(this.#deps, server.address, readTables, database) } };
    if (moment === undefined)
      return this.#withServer(branchId, { read, cached: () => undefined, use: (schema) => schema });
    const readThen = async (server: Postmaster) => {
      const { databases } = await this.#readRows(server);
      return databases.some(({ name }) => name === database) ? await read(server) : {};
    };
    return this.#deps.branches
      .lock(branchId)
      .shared(async () => readAtMoment(this.#deps, branchId, moment, readThen));
  }

  /** Reads from the branch's primary, or else from the cache or a server that is started for this. */
  async #withServer<T, Result>(
    branchId: string,
    { read, cached, use }: CatalogReader<T, Result>,
  ): Promise<Result> {
    const { branches } = this.#deps;
    return branches.lock(branchId).shared(async () => {
      const known = branches.primary(branchId) === undefined ? cached() : undefined;
      return use(known ?? (await withBranchServer(this.#deps, branchId, read)));
    });
  }

  /**
   * Reads the catalog of a branch without data. Doesn't wait for the data as {@link #withServer} does, except where {@link
   * BranchData.predictCatalog} must: another call may be creating them.
   */
  async #readNew(branchId: string, passwordOf?: string | typeof ONLY_ROLE): Promise<BranchCatalog> {
    const { password, ...catalog } = await this.#deps.branches.predictCatalog(branchId);
    const isAsked = findAskedRole(passwordOf, catalog.roles) !== undefined;
    return isAsked && password !== undefined ? { ...catalog, password } : catalog;
  }

  /** @throws {EngineError} or an error of Postgres or of the file system */
  async change(branchId: string, change: CatalogCommand): Promise<BranchCatalog> {
    const { branches, binaries } = this.#deps;
    return branches.lock(branchId).exclusive(async () => {
      const passwords = this.#passwords(branchId);
      const [rows, password] = await withBranchServer(this.#deps, branchId, async ({ address }) =>
        withSuperuser(this.#deps, address, async (client) => {
          const inDatabase = async <T>(database: string, work: (connected: Client) => Promise<T>) =>
            withSuperuser(this.#deps, address, work, database);
          const before = await queryCatalog(client);
          const session = { client, inDatabase, rows: before, passwords, major: binaries.major };
          const newPassword = await applyCatalogChange(session, change);
          return [await queryCatalog(client), newPassword] as const;
        }),
      );
      this.#remember(branchId, rows);
      return toCatalog(rows, passwords, password);
    });
  }

  /** Forgets a branch that was deleted. */
  forget(branchId: string): void {
    this.#idle.delete(branchId);
  }

  #passwords(branchId: string): RolePasswords {
    return new RolePasswords(this.#deps.storage.branch(branchId));
  }

  #remember(branchId: string, rows: CatalogRows): void {
    const { branches } = this.#deps;
    if (branches.primary(branchId) === undefined && !branches.lock(branchId).ownServer.isUsed)
      this.#idle.set(branchId, { version: branches.dataVersion(branchId), rows });
  }

  #rowsOfIdle(branchId: string): CatalogRows | undefined {
    const cached = this.#idle.get(branchId);
    return cached?.version === this.#deps.branches.dataVersion(branchId) ? cached.rows : undefined;
  }
}

function findAskedRole<Role extends { readonly name: string }>(
  asked: string | typeof ONLY_ROLE | undefined,
  roles: readonly Role[],
): Role | undefined {
  if (asked === ONLY_ROLE) return roles.length === 1 ? roles[0] : undefined;
  return roles.find(({ name }) => name === asked);
}

function toCatalog(
  { databases, roles }: CatalogRows,
  passwords: RolePasswords,
  password: string | undefined,
): BranchCatalog {
  return {
    databases: databases.map(({ id, name, owner, created }) => ({
      id,
      name,
      owner,
      ...(created === null ? {} : { createdAt: new Date(created).toISOString() }),
    })),
    roles: roles.map(({ name, canLogin }) => ({ name, canLogin, ...passwords.timestampsOf(name) })),
    ...(password === undefined ? {} : { password }),
  };
}
