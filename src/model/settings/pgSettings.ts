/**
 * The Postgres settings of a compute as a JSON document and back. Every value is sent as text, as in `postgresql.conf`:
 * the public service requires it, and `8` and `"8"` are the same setting.
 */
import type { Compute } from '../../api/records/records.ts';
import { settingText } from '../../api/records/settingText.ts';

export type SettingsText = Readonly<Record<string, string>>;

/** Why a document can't be applied. `key` is the setting with the problem. */
export type SettingsProblem =
  { readonly kind: 'syntax' | 'notAnObject' } | { readonly kind: 'value' | 'fixed'; readonly key: string };

export type ParsedSettings =
  | { readonly settings: SettingsText; readonly problems?: undefined }
  | { readonly settings?: undefined; readonly problems: readonly SettingsProblem[] };

/** The service sets these for every compute (section 2.7, rules 1 and 3). */
const MANAGED_SETTINGS: ReadonlySet<string> = new Set(['max_connections', 'shared_buffers']);

/** The settings on the record. */
export function settingsOn({ settings }: Pick<Compute, 'settings'>): SettingsText {
  const entries = Object.entries(settings?.pg_settings ?? {});
  return Object.fromEntries(entries.flatMap(([name, value]) => [[name, settingText(value) ?? '']]));
}

export const formatSettings = (settings: SettingsText): string =>
  `${JSON.stringify(settings, undefined, 2)}\n`;

/** Returns all problems at once, in the order of the document. */
export function parseSettings(text: string): ParsedSettings {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problems: [{ kind: 'syntax' }] };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return { problems: [{ kind: 'notAnObject' }] };
  const problems: SettingsProblem[] = [];
  const settings: [name: string, value: string][] = [];
  for (const [key, value] of Object.entries(json)) {
    const setting = settingText(value);
    if (MANAGED_SETTINGS.has(key.toLowerCase())) problems.push({ kind: 'fixed', key });
    else if (setting === undefined) problems.push({ kind: 'value', key });
    else settings.push([key, setting]);
  }
  return problems.length > 0 ? { problems } : { settings: Object.fromEntries(settings) };
}

/** The setting that an error message names, such as `invalid value for parameter "work_mem": "lots"`. */
export function settingNamedIn(message: string, keys: Iterable<string>): string | undefined {
  const named = /parameter "([^"]+)"/i.exec(message)?.[1]?.toLowerCase();
  const known = [...keys];
  const exact = known.find((key) => key.toLowerCase() === named);
  if (exact !== undefined) return exact;
  const terms = new Set(message.toLowerCase().match(/[a-z_][a-z0-9_$.]*/g));
  return known.find((key) => terms.has(key.toLowerCase()));
}
