/** One settings document: its text, the settings on the service that it is based on, and its problems. */
import { Diagnostic, DiagnosticSeverity, l10n, Range, type TextDocument, type Uri } from 'vscode';
import { safeText } from '../window.ts';
import { topLevelKeys } from '../../model/settings/jsonKeys.ts';
import {
  areSameSettings,
  formatSettings,
  parseSettings,
  settingNamedIn,
  type SettingsText,
  type SettingsProblem,
} from '../../model/settings/pgSettings.ts';
import type { SettingsOwner } from '../../model/settings/settingsUri.ts';

interface Rejection {
  /** Undefined: the message is about the whole document. */
  readonly key: string | undefined;
  readonly value: string | undefined;
  readonly message: string;
}

export class SettingsDocument {
  readonly uri: Uri;
  readonly owner: SettingsOwner;
  status: 'applied' | 'saving' | 'notApplied' = 'applied';
  /** If the service has other settings than these, another client has changed them. */
  base: SettingsText;
  /** The settings before a pending change, which are restored if it fails. */
  before: SettingsText | undefined;
  /** Why the service rejected the text. Shown until the value of the setting changes. */
  rejection: Rejection | undefined;
  #text: string;
  #changedAt = Date.now();

  constructor(uri: Uri, owner: SettingsOwner, settings: SettingsText) {
    this.uri = uri;
    this.owner = owner;
    this.base = settings;
    this.#text = formatSettings(settings);
  }

  get text(): string {
    return this.#text;
  }

  /** Milliseconds since 1970; increases with every change of the text. */
  get changedAt(): number {
    return this.#changedAt;
  }

  isKnown(settings: SettingsText): boolean {
    if (areSameSettings(settings, this.base)) return true;
    return this.before !== undefined && areSameSettings(settings, this.before);
  }

  save(text: string, status: 'applied' | 'notApplied'): void {
    this.#text = text;
    this.#changedAt = Math.max(Date.now(), this.#changedAt + 1);
    this.status = status;
  }

  /** The compute has these settings, or gets them. @param before the previous settings, while the change is pending */
  accept(text: string, settings: SettingsText, before?: SettingsText): void {
    this.base = settings;
    this.before = before;
    this.rejection = undefined;
    this.save(text, 'applied');
  }

  /** The service has rejected the text, or the change has failed. */
  reject(message: string): void {
    this.base = this.before ?? this.base;
    this.before = undefined;
    this.status = 'notApplied';
    const settings = settingsIn(this.#text) ?? {};
    const key = settingNamedIn(message, Object.keys(settings));
    this.rejection = { key, value: key && settings[key], message };
  }
}

const settingsIn = (text: string): SettingsText | undefined =>
  ({ settings: undefined, ...parseSettings(text) }).settings;

/** @param state undefined if only the text is to be checked */
export function diagnosticsOf(document: TextDocument, state: SettingsDocument | undefined): Diagnostic[] {
  const text = document.getText();
  const found = (parseSettings(text).problems ?? []).flatMap((problem) => {
    const message = problemText(problem);
    return message === undefined
      ? []
      : errorAt(document, 'key' in problem ? problem.key : undefined, message);
  });
  const rejection = state && currentRejection(text, state);
  if (rejection !== undefined) found.push(errorAt(document, rejection.key, rejection.message));
  if (found.length === 0 && state?.status === 'notApplied' && !document.isDirty) {
    const message = l10n.t('Saved, but not applied to the compute. Save again to apply.');
    found.push(new Diagnostic(document.lineAt(0).range, message, DiagnosticSeverity.Warning));
  }
  for (const diagnostic of found) diagnostic.source = 'Hosted Postgres';
  return found;
}

function currentRejection(text: string, { rejection, text: rejectedText }: SettingsDocument) {
  if (rejection?.key === undefined) return text === rejectedText ? rejection : undefined;
  const settings = settingsIn(text);
  return settings === undefined || settings[rejection.key] === rejection.value ? rejection : undefined;
}

function errorAt(document: TextDocument, key: string | undefined, message: string): Diagnostic {
  const place = topLevelKeys(document.getText()).findLast((each) => each.key === key);
  const range =
    place === undefined
      ? document.lineAt(0).range
      : new Range(document.positionAt(place.start), document.positionAt(place.end));
  return new Diagnostic(range, safeText(message), DiagnosticSeverity.Error);
}

/** Undefined for syntax errors, which VS Code's JSON support reports. */
function problemText(problem: SettingsProblem): string | undefined {
  switch (problem.kind) {
    case 'syntax':
      return undefined;
    case 'notAnObject':
      return l10n.t('Expected an object with names and values of Postgres settings.');
    case 'value':
      return l10n.t('The value must be a string, a number, true or false.');
    case 'fixed':
      return problem.key.toLowerCase() === 'shared_buffers'
        ? l10n.t('shared_buffers is fixed at 128 MB on every compute.')
        : l10n.t(
            'max_connections depends on the compute size (with autoscaling, on the minimum). Change the size instead.',
          );
    default:
      return problem satisfies never;
  }
}
