/**
 * The role and database to offer first: those last used for the project, or the local service's defaults. The others of the
 * branch follow.
 */
import { canLogIn } from '../../api/passwords.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Memory } from '../window/memory.ts';
import type { Session } from '../account/session.ts';
import type { Database, Role } from '../../api/records/records.ts';

export interface RoleAndDatabase {
  /** Empty if unknown. */
  readonly role: string;
  readonly database: string;
}

/** A role and a database to connect with, and by which host. */
export interface Login extends RoleAndDatabase {
  /** Whether to connect to the pooled host. */
  readonly pooled: boolean;
}

interface UsedDefaults extends RoleAndDatabase {
  /** The id of the account, see `accountId`. Undefined if an earlier version has stored the login. */
  readonly account?: string;
  readonly projectId: string;
  readonly pooled?: boolean;
}

/** The role and database that every branch of the local service has. */
export const LOCAL_ROLE_AND_DATABASE: RoleAndDatabase = { role: 'app_owner', database: 'app' };

const DEFAULTS_ENTRY = 'hostedPostgres.logins';
const FORMAT_ENTRY = 'hostedPostgres.copyFormat';

/** The most projects that are remembered. The least recently used one is forgotten first. */
const MAX_REMEMBERED_PROJECTS = 50;

/** Remembers the role and database that were last used for each project. */
export class ConnectionDefaults {
  readonly #session: Pick<Session, 'connection'>;
  readonly #memory: Memory;

  constructor(session: Pick<Session, 'connection'>, memory: Memory) {
    this.#session = session;
    this.#memory = memory;
  }

  /** @param settings the user's settings, which take precedence */
  propose(projectId: string | undefined, settings: RoleAndDatabase): RoleAndDatabase {
    const used = this.#find(projectId);
    const local = this.#session.connection?.isLocal === true ? LOCAL_ROLE_AND_DATABASE : undefined;
    return {
      role: settings.role || used?.role || local?.role || '',
      database: settings.database || used?.database || local?.database || '',
    };
  }

  /** Whether the pooled host was last used for the project. */
  prefersPooled(projectId: string): boolean {
    return this.#find(projectId)?.pooled === true;
  }

  /** @param login without `pooled`, the last choice of the host is kept */
  async remember(projectId: string, login: RoleAndDatabase & Partial<Login>): Promise<void> {
    const { role, database, pooled = this.prefersPooled(projectId) } = login;
    const account = this.#session.connection?.accountId;
    const rest = this.#used().filter((used) => !this.#isOf(used, projectId));
    await this.#memory.update(
      DEFAULTS_ENTRY,
      [{ account, projectId, role, database, pooled }, ...rest].slice(0, MAX_REMEMBERED_PROJECTS),
    );
  }

  /** The id of the format in which a connection was last copied. */
  get format(): unknown {
    return this.#memory.get(FORMAT_ENTRY);
  }

  async rememberFormat(format: string): Promise<void> {
    await this.#memory.update(FORMAT_ENTRY, format);
  }

  #find(projectId: string | undefined): UsedDefaults | undefined {
    return this.#used().find((login) => this.#isOf(login, projectId));
  }

  #isOf({ account, ...login }: UsedDefaults, projectId: string | undefined): boolean {
    const current = this.#session.connection?.accountId;
    return login.projectId === projectId && (account ?? current) === current;
  }

  #used(): readonly UsedDefaults[] {
    const stored = this.#memory.get(DEFAULTS_ENTRY);
    return Array.isArray(stored) ? stored.filter(isUsedLogin) : [];
  }
}

function isUsedLogin(value: unknown): value is UsedDefaults {
  const { projectId, role, database } = fieldsOf(value);
  return [projectId, role, database].every((text) => typeof text === 'string');
}

/** What a branch has to log in with. */
export interface Catalog {
  readonly databases: readonly Database[];
  readonly roles: readonly Role[];
}

interface LoginPreferences {
  /** The role and database that are offered first if both exist on the branch. Either may be empty. */
  readonly proposed: RoleAndDatabase;
  /** Whether the compute has a pooled host. */
  readonly canBePooled: boolean;
  /** Whether to offer the pooled host first. */
  readonly prefersPooled: boolean;
}

/** Returns each database with the role to log in as: its owner, or another role if the owner can't log in. */
export function loginRoles({ databases, roles }: Catalog): readonly RoleAndDatabase[] {
  const names = roles.filter(canLogIn).map(({ name }) => name);
  return databases.flatMap(({ name, owner_name }) => {
    const role = names.includes(owner_name) ? owner_name : names[0];
    return role === undefined ? [] : [{ role, database: name }];
  });
}

/** Returns the proposed database and role, then each database with its owner. */
export function loginChoices(catalog: Catalog, preferences: LoginPreferences): readonly Login[] {
  const { proposed, canBePooled, prefersPooled } = preferences;
  const roles = catalog.roles.filter(canLogIn).map(({ name }) => name);
  const usual = loginRoles(catalog);
  const isFirst = ({ database }: RoleAndDatabase) => database === proposed.database;
  const first = usual.filter(isFirst);
  const isOtherRole = roles.includes(proposed.role) && first.some(({ role }) => role !== proposed.role);
  const pairs = [
    ...(isOtherRole ? [{ role: proposed.role, database: proposed.database }] : []),
    ...first,
    ...usual.filter((pair) => !isFirst(pair)),
  ];
  const hosts = canBePooled ? [prefersPooled, !prefersPooled] : [false];
  return pairs.flatMap((pair) => hosts.map((pooled) => ({ ...pair, pooled })));
}

/** Whether the role and the database exist on the branch. */
export const isInCatalog = ({ databases, roles }: Catalog, { role, database }: RoleAndDatabase): boolean =>
  databases.some(({ name }) => name === database) && roles.some(({ name }) => name === role);
