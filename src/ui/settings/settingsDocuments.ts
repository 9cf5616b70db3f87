/**
 * The Postgres settings of a compute as a document that is saved to the service. What does the work is loaded when
 * the first such document is opened; until then there is only an address scheme.
 */
import {
  EventEmitter,
  FileSystemError,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type FileSystemProvider,
  type Uri,
} from 'vscode';
import { DisposableStore, toDisposable, type Disposable } from '../../base/disposable.ts';
import type { ChangeEnd } from '../../model/pendingChange.ts';
import { SETTINGS_SCHEME } from '../../model/settingsAddress.ts';
import type { SettingsFiles, SettingsParts } from './settingsFiles.ts';

export class SettingsDocuments implements FileSystemProvider, Disposable {
  readonly #loadParts: () => Promise<Omit<SettingsParts, 'onDidChange'>>;
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly #disposables = new DisposableStore();
  #loading: Promise<SettingsFiles> | undefined;
  #files: SettingsFiles | undefined;

  readonly onDidChangeFile = this.#changed.event;

  constructor(loadParts: () => Promise<Omit<SettingsParts, 'onDidChange'>>) {
    this.#loadParts = loadParts;
    this.#disposables.add(this.#changed);
    this.#disposables.add(
      workspace.registerFileSystemProvider(SETTINGS_SCHEME, this, { isCaseSensitive: true }),
    );
  }

  /** Hears how a change ended. @returns whether an open document shows it, so that nobody else need say it */
  show(end: ChangeEnd): boolean {
    return this.#files?.show(end) ?? false;
  }

  async stat(uri: Uri): Promise<FileStat> {
    return (await this.#load()).stat(uri);
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return (await this.#load()).read(uri);
  }

  async writeFile(uri: Uri, content: Uint8Array): Promise<void> {
    return (await this.#load()).write(uri, content);
  }

  /** Changes are told without being asked for. */
  watch(): Disposable {
    return toDisposable(() => undefined);
  }

  readDirectory(): never {
    throw FileSystemError.NoPermissions();
  }

  createDirectory(): never {
    throw FileSystemError.NoPermissions();
  }

  delete(): never {
    throw FileSystemError.NoPermissions();
  }

  rename(): never {
    throw FileSystemError.NoPermissions();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #load(): Promise<SettingsFiles> {
    this.#loading ??= this.#start();
    return this.#loading;
  }

  async #start(): Promise<SettingsFiles> {
    const { SettingsFiles } = await import('./settingsFiles.ts');
    const { session, inventory, changes } = await this.#loadParts();
    const onDidChange = (events: FileChangeEvent[]) => this.#changed.fire(events);
    this.#files = this.#disposables.add(new SettingsFiles({ session, inventory, changes, onDidChange }));
    return this.#files;
  }
}
