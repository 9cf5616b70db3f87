/** The extension's settings, typed. Invalid values fall back to defaults. */
import path from 'node:path';
import { ConfigurationTarget, workspace, type ConfigurationScope, type Event } from 'vscode';
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { MARKS, type Mark, type Marks } from '../../model/account/guards.ts';

const SECTION = 'hostedPostgres';

export class Config implements Disposable {
  readonly #changed = new Emitter<(setting: string) => boolean>();
  readonly #marksChanged = new Emitter<void>();
  readonly #subscription: Disposable;

  /** Listeners get a function that says whether a setting changed: `(changed) => changed('refreshInterval')`. */
  readonly onDidChange = this.#changed.event;
  readonly onDidChangeMarks = this.#marksChanged.event;

  constructor(
    onDidChange: Event<{
      affectsConfiguration(section: string): boolean;
    }> = workspace.onDidChangeConfiguration,
  ) {
    this.#subscription = onDidChange((event) => {
      if (!event.affectsConfiguration(SECTION)) return;
      if (event.affectsConfiguration(`${SECTION}.marks`)) this.#marksChanged.fire();
      this.#changed.fire((setting) => event.affectsConfiguration(`${SECTION}.${setting}`));
    });
  }

  /** Callers validate it. */
  get baseUrl(): string {
    return this.#text('baseUrl') ?? '';
  }

  /** The organization chosen for the account, or else that of the setting. */
  organizationOf(account: { readonly organizationId?: string | undefined } | undefined): string | undefined {
    return account?.organizationId ?? this.#text('organizationId');
  }

  /** Invalid entries are left out. */
  get marks(): Marks {
    const marks = this.#markEntries.flatMap(([entry, value]) => {
      const mark = MARKS.find((valid) => valid === value);
      return mark === undefined ? [] : [[entry, mark] as const];
    });
    return Object.fromEntries(marks);
  }

  /** Keeps invalid entries, which the user may correct. @param entry see `Marks`. @param mark undefined to remove it */
  async setMark(entry: string, mark: Mark | undefined): Promise<void> {
    const { [entry]: _, ...rest } = Object.fromEntries(this.#markEntries);
    const marks = mark === undefined ? rest : { ...rest, [entry]: mark };
    await workspace.getConfiguration(SECTION).update('marks', marks, ConfigurationTarget.Global);
  }

  /** Milliseconds, at least 5000; 0 means never. */
  get refreshInterval(): number {
    const seconds = workspace.getConfiguration(SECTION).get<unknown>('refreshInterval');
    if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return 60_000;
    return seconds <= 0 ? 0 : Math.max(5, seconds) * 1000;
  }

  /** The folder with `postgres` and `initdb`. */
  get postgresPath(): string | undefined {
    return this.#text('localService.postgresPath');
  }

  /** Sets the folder for the machine on which the extension runs. */
  async setPostgresPath(folder: string): Promise<void> {
    const target = ConfigurationTarget.Global;
    await workspace.getConfiguration(SECTION).update('localService.postgresPath', folder, target);
  }

  connectionString(scope?: ConfigurationScope): { readonly role: string; readonly database: string } {
    return {
      role: this.#text('connectionString.role', scope) ?? '',
      database: this.#text('connectionString.database', scope) ?? '',
    };
  }

  /** The env file, relative to its folder, and the variable in it. A path out of the folder is ignored. */
  env(scope: ConfigurationScope): { readonly file: string; readonly variable: string } {
    const file = this.#text('env.file', scope) ?? '';
    const variable = this.#text('env.variable', scope) ?? '';
    const isWithin = !path.isAbsolute(file) && !file.split(/[\\/]/).includes('..');
    return {
      file: file !== '' && isWithin ? file : '.env',
      variable: /^[A-Za-z_][\w.]*$/.test(variable) ? variable : 'DATABASE_URL',
    };
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
    this.#marksChanged.dispose();
  }

  get #markEntries(): readonly (readonly [entry: string, value: unknown])[] {
    return Object.entries(fieldsOf(workspace.getConfiguration(SECTION).get('marks')));
  }

  #text(setting: string, scope?: ConfigurationScope): string | undefined {
    const value = workspace.getConfiguration(SECTION, scope).get<unknown>(setting);
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  }
}
