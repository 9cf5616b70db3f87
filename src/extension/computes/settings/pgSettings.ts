/**
 * Converts the Postgres settings of a compute to a JSON document with a URI, and back. Every value is sent as text, as in
 * `postgresql.conf`: the public service requires it, and `8` and `"8"` are the same setting.
 */
import { settingValueText, type PostgresSettings } from '../../inventory/computeStatus.ts';
import { isComputeId, isId } from '../../../api/records/ids.ts';
import { accountId, type Account } from '../../account/accounts.ts';
import type { ComputeIds } from '../../account/refs.ts';
import { SETTINGS_SCHEME } from './settingsScheme.ts';

/** Why a document can't be applied. `key` is the setting with the problem. */
export type SettingsProblem =
  | { readonly kind: 'notAnObject' }
  /** `reason` is that of the JSON parser. */
  | { readonly kind: 'syntax'; readonly reason: string }
  | { readonly kind: 'value' | 'fixed'; readonly key: string };

type ParsedSettings =
  | { readonly settings: PostgresSettings; readonly problems?: undefined }
  | { readonly settings?: undefined; readonly problems: readonly SettingsProblem[] };

/** Settings that the service sets for every compute. */
const MANAGED_SETTINGS: ReadonlySet<string> = new Set(['max_connections', 'shared_buffers']);

export const formatSettings = (settings: PostgresSettings): string =>
  `${JSON.stringify(settings, undefined, 2)}\n`;

/** Returns all problems at once, in the order of the document. */
export function parsePgSettings(text: string): ParsedSettings {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { problems: [{ kind: 'syntax', reason: error instanceof Error ? error.message : String(error) }] };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return { problems: [{ kind: 'notAnObject' }] };
  const problems: SettingsProblem[] = [];
  const settings: [name: string, value: string][] = [];
  for (const [key, value] of Object.entries(json)) {
    const setting = settingValueText(value);
    if (MANAGED_SETTINGS.has(key.toLowerCase())) problems.push({ kind: 'fixed', key });
    else if (setting === undefined) problems.push({ kind: 'value', key });
    else settings.push([key, setting]);
  }
  return problems.length > 0 ? { problems } : { settings: Object.fromEntries(settings) };
}

/** Returns the setting that an error message names, such as `invalid value for parameter "work_mem": "lots"`. */
export function settingNamedIn(message: string, keys: Iterable<string>): string | undefined {
  const named = /parameter "([^"]+)"/i.exec(message)?.[1]?.toLowerCase();
  const known = [...keys];
  const exact = known.find((key) => key.toLowerCase() === named);
  if (exact !== undefined) return exact;
  const terms = new Set(message.toLowerCase().match(/[a-z_][a-z0-9_$.]*/g));
  return known.find((key) => terms.has(key.toLowerCase()));
}

/** Documents of version 0.4 have no title, and VS Code may reopen them. */
const DOCUMENT_PATH = /^\/([^/]+)\/([^/]+)(?:\/[^/]+)?\.pg_settings\.json$/;

interface SettingsUri {
  readonly scheme: string;
  readonly path: string;
  /** Names the account, because ids are unique only within one. */
  readonly query: string;
}

/** @param title see `documentTitle` */
export const settingsUri = (
  account: Account,
  { projectId, computeId }: ComputeIds,
  title: string,
): SettingsUri => ({
  scheme: SETTINGS_SCHEME,
  // VS Code shows the last segment as the title. `contributes.jsonValidation` in the manifest matches the end.
  path: `/${projectId}/${computeId}/${title}.pg_settings.json`,
  query: accountId(account),
});

/** Returns undefined for another kind of URI. */
export function parseSettingsUri({ path }: Pick<SettingsUri, 'path'>): ComputeIds | undefined {
  const [, projectId, computeId] = DOCUMENT_PATH.exec(path) ?? [];
  return isId(projectId) && isComputeId(computeId) ? { projectId, computeId } : undefined;
}

export const belongsToAccount = ({ query }: Pick<SettingsUri, 'query'>, account: Account): boolean =>
  query === accountId(account);
