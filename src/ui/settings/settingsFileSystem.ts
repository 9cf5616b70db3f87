/**
 * The file system of settings documents: the Postgres settings of a compute as a JSON file. Registered at activation;
 * the code behind it is loaded when the first document is opened.
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
import type { EndReport } from '../../model/operations/pendingChange.ts';
import { SETTINGS_SCHEME } from '../../model/settings/pgSettings.ts';
import type { SettingsDocuments, SettingsParts } from './settingsDocuments.ts';

const readOnlyFolder = (): never => {
  throw FileSystemError.NoPermissions();
};

export class SettingsFileSystem implements FileSystemProvider, Disposable {
  readonly #loadParts: () => Promise<SettingsParts>;
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly #disposables = new DisposableStore();
  #loading: Promise<SettingsDocuments> | undefined;
  #documents: SettingsDocuments | undefined;

  readonly onDidChangeFile = this.#changed.event;
  readonly readDirectory = readOnlyFolder;
  readonly createDirectory = readOnlyFolder;
  readonly delete = readOnlyFolder;
  readonly rename = readOnlyFolder;

  constructor(loadParts: () => Promise<SettingsParts>) {
    this.#loadParts = loadParts;
    this.#disposables.add(this.#changed);
    this.#disposables.add(
      workspace.registerFileSystemProvider(SETTINGS_SCHEME, this, { isCaseSensitive: true }),
    );
  }

  /** @returns whether an open document shows how the change ended */
  show(end: EndReport): boolean {
    return this.#documents?.show(end) ?? false;
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

  /** `onDidChangeFile` reports changes of all documents. */
  watch(): Disposable {
    return toDisposable(() => undefined);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #load(): Promise<SettingsDocuments> {
    return (this.#loading ??= this.#start());
  }

  async #start(): Promise<SettingsDocuments> {
    const { SettingsDocuments } = await import('./settingsDocuments.ts');
    const onDidChange = (event: FileChangeEvent) => this.#changed.fire([event]);
    this.#documents = this.#disposables.add(new SettingsDocuments(await this.#loadParts(), onDidChange));
    return this.#documents;
  }
}
