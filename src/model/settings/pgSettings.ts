/**
 * The Postgres settings of a compute as a JSON document and back. Every value is sent as text, as `postgresql.conf`
 * would have it: that is what the public service takes, and `8` and `"8"` are the same setting. Pure.
 */
import type { Compute } from '../../api/records/records.ts';
import { settingText } from '../../api/records/settingText.ts';
import { isEqual } from '../../base/equal.ts';

export type SettingsText = Readonly<Record<string, string>>;

/** What keeps a document from being applied. A problem with a key lies in that setting. */
export type SettingsProblem =
  { readonly kind: 'syntax' | 'notAnObject' } | { readonly kind: 'value' | 'fixed'; readonly key: string };

export type ParsedSettings =
  | { readonly settings: SettingsText; readonly problems?: undefined }
  | { readonly problems: readonly SettingsProblem[] };

/** Set by the service for every compute (section 2.7, rules 1 and 3). */
const MANAGED_SETTINGS: ReadonlySet<string> = new Set(['max_connections', 'shared_buffers']);

/** The settings on the record; what is no value of a setting is left to the service. */
export function settingsOn({ settings }: Pick<Compute, 'settings'>): SettingsText {
  const entries = Object.entries(settings?.pg_settings ?? {});
  return Object.fromEntries(entries.flatMap(([name, value]) => [[name, settingText(value) ?? '']]));
}

export const formatSettings = (settings: SettingsText): string =>
  `${JSON.stringify(settings, undefined, 2)}\n`;

export const areSameSettings = (one: SettingsText, other: SettingsText): boolean => isEqual(one, other);

/** Reads a document; problems are told all at once, in its order. */
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

/** The setting that a refusal in words is about, such as `invalid value for parameter "work_mem": "lots"`. */
export function settingNamedIn(message: string, keys: Iterable<string>): string | undefined {
  const named = /parameter "([^"]+)"/i.exec(message)?.[1]?.toLowerCase();
  const known = [...keys];
  const exact = known.find((key) => key.toLowerCase() === named);
  if (exact !== undefined) return exact;
  const words = new Set(message.toLowerCase().match(/[a-z_][a-z0-9_$.]*/g));
  return known.find((key) => words.has(key.toLowerCase()));
}
