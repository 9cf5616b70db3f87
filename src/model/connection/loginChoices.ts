/** Ways to log in to a branch, from the lists of its databases and roles. */
import type { Database, Role } from '../../api/records/records.ts';
import type { Login, RoleAndDatabase } from './connectionDefaults.ts';

export interface Catalog {
  readonly databases: readonly Database[];
  readonly roles: readonly Role[];
}

export interface LoginPreferences {
  /** Comes first, if both exist on the branch. Either may be empty. */
  readonly proposed: RoleAndDatabase;
  /** Whether the compute has a pooled host. */
  readonly canBePooled: boolean;
  /** Whether the pooled host comes first. */
  readonly prefersPooled: boolean;
}

export const canLogIn = (role: Role): boolean => role.authentication_method !== 'no_login';

/** Each database with its owner, the proposed database and role first. */
export function loginChoices(catalog: Catalog, preferences: LoginPreferences): readonly Login[] {
  const { proposed, canBePooled, prefersPooled } = preferences;
  const roles = catalog.roles.filter(canLogIn).map(({ name }) => name);
  const owners: readonly RoleAndDatabase[] = catalog.databases.flatMap(({ name, owner_name }) => {
    const role = roles.includes(owner_name) ? owner_name : roles[0];
    return role === undefined ? [] : [{ role, database: name }];
  });
  const isFirst = ({ database }: RoleAndDatabase) => database === proposed.database;
  const first = owners.filter(isFirst);
  const isOtherRole = roles.includes(proposed.role) && first.some(({ role }) => role !== proposed.role);
  const pairs = [
    ...(isOtherRole ? [{ role: proposed.role, database: proposed.database }] : []),
    ...first,
    ...owners.filter((pair) => !isFirst(pair)),
  ];
  const hosts = canBePooled ? [prefersPooled, !prefersPooled] : [false];
  return pairs.flatMap((pair) => hosts.map((pooled) => ({ ...pair, pooled })));
}

/** Whether both exist on the branch. */
export const isInCatalog = ({ databases, roles }: Catalog, { role, database }: RoleAndDatabase): boolean =>
  databases.some(({ name }) => name === database) && roles.some(({ name }) => name === role);
