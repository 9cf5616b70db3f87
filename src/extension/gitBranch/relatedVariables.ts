/**
 * The variables of an env file that point to the same database branch as the one that follows git, such as DIRECT_URL and
 * PGHOST. They follow too, direct or pooled as each was: otherwise migrations, for example, would change the old branch.
 */
import { connectionString } from '../connection/connectionStrings.ts';
import {
  CONNECTION_PART_NAMES,
  findHostPrefixes,
  URL_VARIABLES,
} from '../../api/addresses/addressVariables.ts';
import { parseDatabaseUrl, withTlsParameters, type DatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import { getVariable, variableNames, type VariableChange } from '../envFile/dotEnv.ts';
import { findBranchUrl, type BranchUrlDependencies } from './findBranchUrl.ts';
import { parametersOfVariables, tlsChanges, tlsVariables } from './tlsVariables.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';

/** Returns variables that may point to the same branch: the well-known ones or, for a name of the user's, that name with suffixes. */
const relatedNames = (name: string): readonly string[] =>
  URL_VARIABLES.includes(name)
    ? URL_VARIABLES.filter((other) => other !== name)
    : ['_UNPOOLED', '_NON_POOLING', '_DIRECT'].map((suffix) => `${name}${suffix}`);

interface Connection {
  readonly name: string;
  /** A secret. */
  readonly url: string;
  /** Returns the changes that make the variables hold the URL; undefined if they can't hold the URL. */
  readonly changesTo: (url: string) => readonly VariableChange[] | undefined;
}

/** The variables of a file that belong to the one that follows git. */
export interface RelatedVariables {
  readonly changes: readonly VariableChange[];
  /** The names of variables that keep pointing to the old branch. */
  readonly left: readonly string[];
}

/** Never rejects. @param text the text of the env file. @param name the variable that follows git */
export async function findRelatedVariables(
  deps: BranchUrlDependencies,
  text: string,
  name: string,
  target: BranchRef,
): Promise<RelatedVariables> {
  const main = parseDatabaseUrl(getVariable(text, name) ?? '');
  const connections = main === undefined ? [] : connectionsBeside(text, name, main);
  if (main === undefined || connections.length === 0) return { changes: [], left: [] };
  const { inventory, knownHosts } = deps;
  const hostOfConnection = ({ url }: Connection) => parseDatabaseUrl(url)?.host ?? '';
  await knownHosts.refresh(inventory, target.account, connections.map(hostOfConnection));
  const current = knownHosts.get(main.host);
  const changes: VariableChange[] = [];
  const left: string[] = [];
  for (const connection of connections) {
    if (!isSameBranch(knownHosts.get(hostOfConnection(connection)), current)) continue;
    const { name: variable, url } = connection;
    const { value } = await findBranchUrl(deps, target, { name: variable, value: url });
    const change = value === undefined ? undefined : connection.changesTo(value);
    if (change === undefined) left.push(variable);
    else changes.push(...change);
  }
  return { changes, left };
}

function connectionsBeside(text: string, name: string, main: DatabaseUrl): readonly Connection[] {
  const urls = relatedNames(name).flatMap((other): Connection[] => {
    const before = getVariable(text, other) ?? '';
    if (parseDatabaseUrl(before) === undefined) return [];
    return [{ name: other, url: before, changesTo: (after) => [{ name: other, before, after }] }];
  });
  if (!URL_VARIABLES.includes(name)) return urls;
  const prefixes = findHostPrefixes(variableNames(text));
  const groups = prefixes.flatMap((prefix) => groupConnections(text, prefix, main));
  const alone = PREFIXES_OF_URL.filter((prefix) => !prefixes.includes(prefix));
  return [...urls, ...groups, ...alone.flatMap((prefix) => tlsConnection(text, prefix, main))];
}

/** The prefixes of variables that programs read besides a URL: libpq PGSSLMODE, and frameworks DB_SSLMODE. */
const PREFIXES_OF_URL: readonly string[] = ['PG', 'PG_', 'POSTGRES_', 'POSTGRESQL_', 'DATABASE_', 'DB_'];

/** Finds the variables for TLS whose prefix has no host, so that they are for the URL. */
function tlsConnection(text: string, prefix: string, main: DatabaseUrl): readonly Connection[] {
  if (tlsVariables(text, prefix).length === 0) return [];
  const url = withTlsParameters(
    connectionString({ ...main, password: undefined }),
    parametersOfVariables(text, prefix),
  );
  return [{ name: `${prefix}SSL*`, url, changesTo: (changed) => tlsChanges(text, prefix, changed) }];
}

/** Finds the variables that are a connection together, such as PGHOST, PGHOST_UNPOOLED, PGUSER and PGPASSWORD. */
function groupConnections(text: string, prefix: string, main: DatabaseUrl): readonly Connection[] {
  const isSet = (name: string) => getVariable(text, name) !== undefined;
  const find = (part: Exclude<keyof typeof CONNECTION_PART_NAMES, 'host'>) =>
    CONNECTION_PART_NAMES[part].map((name) => `${prefix}${name}`).find(isSet) ??
    `${prefix}${CONNECTION_PART_NAMES[part][0]}`;
  const others = [find('port'), find('user'), find('password'), find('database')] as const;
  const hosts = CONNECTION_PART_NAMES.host.flatMap((name) =>
    [name, `${name}_UNPOOLED`].map((each) => `${prefix}${each}`),
  );
  return hosts.filter(isSet).flatMap((host) => groupConnection(text, [host, ...others], main, prefix));
}

function groupConnection(
  text: string,
  names: readonly [host: string, port: string, user: string, password: string, database: string],
  main: DatabaseUrl,
  prefix: string,
): readonly Connection[] {
  const [host, port, user, , database] = names.map((name) => getVariable(text, name));
  const parts = { role: user ?? main.role, database: database ?? main.database };
  const plainUrl = connectionString({ ...parts, host: port === undefined ? `${host}` : `${host}:${port}` });
  const tls = parametersOfVariables(text, prefix);
  const url = tls.length === 0 ? plainUrl : withTlsParameters(plainUrl, tls);
  if (host === undefined || parseDatabaseUrl(url) === undefined) return [];
  const changesTo = (changed: string) => {
    const after = parseDatabaseUrl(changed);
    if (after === undefined || (after.server.port !== 5432 && port === undefined)) return undefined;
    const values = [after.server.name, String(after.server.port), undefined, after.password];
    const changes = names.flatMap((name, index): VariableChange[] => {
      const [before, value] = [getVariable(text, name), values[index]];
      return before === undefined || value === undefined ? [] : [{ name, before, after: value }];
    });
    return [...changes, ...tlsChanges(text, prefix, changed)];
  };
  return [{ name: names[0], url, changesTo }];
}
