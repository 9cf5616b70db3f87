/** The extension's settings, typed. Invalid values fall back to defaults. */
import path from 'node:path';
import { ConfigurationTarget, workspace, type ConfigurationScope } from 'vscode';
import { fieldsOf } from '../../../base/fieldsOf.ts';
import type { Event } from '../../../base/event.ts';
import { MARKS, type Mark, type Marks } from '../marks.ts';

const SECTION = 'hostedPostgres';

const onSettingsChange =
  (section: string): Event<void> =>
  (listener) =>
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(section)) listener();
    });

/** Reads the settings of the extension. */
export class Config {
  readonly onDidChange = onSettingsChange(SECTION);
  readonly onDidChangeMarks = onSettingsChange(`${SECTION}.marks`);

  /** The address of the service. Callers validate it. */
  get baseUrl(): string {
    return this.#text('baseUrl') ?? '';
  }

  /** Returns the organization chosen for the account, or else the one in the settings. */
  organizationOf(account: { readonly organizationId?: string | undefined } | undefined): string | undefined {
    return account?.organizationId ?? this.#text('organizationId');
  }

  /** The marks of accounts and projects. Invalid entries are left out. */
  get marks(): Marks {
    const marks = this.#markEntries.flatMap(([entry, value]) => {
      const mark = MARKS.find((valid) => valid === value);
      return mark === undefined ? [] : [[entry, mark] as const];
    });
    return Object.fromEntries(marks);
  }

  /** Keeps invalid entries, so that the user can correct them. @param entry see `Marks`. @param mark undefined to remove it */
  async setMark(entry: string, mark: Mark | undefined): Promise<void> {
    const { [entry]: _, ...rest } = Object.fromEntries(this.#markEntries);
    const marks = mark === undefined ? rest : { ...rest, [entry]: mark };
    await workspace.getConfiguration(SECTION).update('marks', marks, ConfigurationTarget.Global);
  }

  /** Milliseconds between two refreshes in the background, at least 5000; 0 means never. */
  get refreshInterval(): number {
    const seconds = workspace.getConfiguration(SECTION).get<unknown>('refreshInterval');
    if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return 60_000;
    return seconds <= 0 ? 0 : Math.max(5, seconds) * 1000;
  }

  /** The folder with `postgres` and `initdb`. */
  get postgresPath(): string | undefined {
    return this.#text('localService.postgresPath');
  }

  /** The folder with more extensions for Postgres. */
  get extensionsPath(): string | undefined {
    return this.#text('localService.extensionsPath');
  }

  /** Names of extensions that owners may create although their control files don't say so. */
  get trustedExtensions(): string[] {
    const names = workspace.getConfiguration(SECTION).get<unknown>('localService.trustedExtensions');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  }

  /** Sets the folder for the machine on which the extension runs. */
  async setPostgresPath(folder: string): Promise<void> {
    const target = ConfigurationTarget.Global;
    await workspace.getConfiguration(SECTION).update('localService.postgresPath', folder, target);
  }

  /** Whether to offer Undo after a checkout of a commit with fewer migrations. */
  get offersUndoAfterCheckout(): boolean {
    return workspace.getConfiguration(SECTION).get<unknown>('undo.offerAfterCheckout') === true;
  }

  /** Whether a migration is rehearsed when it is saved. */
  get rehearsesOnSave(): boolean {
    return workspace.getConfiguration(SECTION).get<unknown>('rehearse.onSave') === true;
  }

  configuredLogin(scope?: ConfigurationScope): { readonly role: string; readonly database: string } {
    return {
      role: this.#text('connectionString.role', scope) ?? '',
      database: this.#text('connectionString.database', scope) ?? '',
    };
  }

  /** Returns the env file, relative to its folder, and the variable in it. A path out of the folder is ignored. */
  envFileSettings(scope: ConfigurationScope): { readonly file: string; readonly variable: string } {
    const file = this.#text('env.file', scope) ?? '';
    const variable = this.#text('env.variable', scope) ?? '';
    const isWithin = !path.isAbsolute(file) && !file.split(/[\\/]/).includes('..');
    return {
      file: file !== '' && isWithin ? file : '.env',
      variable: /^[A-Za-z_][\w.]*$/.test(variable) ? variable : 'DATABASE_URL',
    };
  }

  get #markEntries(): readonly (readonly [entry: string, value: unknown])[] {
    return Object.entries(fieldsOf(workspace.getConfiguration(SECTION).get('marks')));
  }

  #text(setting: string, scope?: ConfigurationScope): string | undefined {
    const value = workspace.getConfiguration(SECTION, scope).get<unknown>(setting);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  }
}
