/**
 * Reads and saves settings documents. A save that the compute can't take is kept in the document, with the reason next
 * to the setting. If the user can't fix it in the document (no connection, for example), the save fails.
 */
import {
  FileChangeType,
  FilePermission,
  FileType,
  l10n,
  languages,
  TabInputText,
  TabInputTextDiff,
  TextDocumentSaveReason,
  window,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type Tab,
  type TextDocument,
  type Uri,
} from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { InventoryChange } from '../../model/inventory/inventory.ts';
import type { ChangeEnd } from '../../model/operations/pendingChange.ts';
import { formatSettings, parseSettings, settingsOn } from '../../model/settings/pgSettings.ts';
import { belongsToAccount, SETTINGS_SCHEME } from '../../model/settings/settingsUri.ts';
import { sanitize } from '../text/sanitize.ts';
import {
  announceNotApplied,
  applySettings,
  readCompute,
  requireAccount,
  serviceVersion,
  type SettingsParts,
} from './applySettings.ts';
import { diagnosticsOf, SettingsDocument } from './settingsDocument.ts';

export class SettingsDocuments implements Disposable {
  readonly #parts: SettingsParts;
  readonly #onDidChange: (event: FileChangeEvent) => void;
  readonly #disposables = new DisposableStore();
  readonly #problems = this.#disposables.add(
    languages.createDiagnosticCollection('hosted-postgres-settings'),
  );
  readonly #documents = new Map<string, SettingsDocument>();
  /** Why each document was last saved. */
  readonly #saveReasons = new Map<string, TextDocumentSaveReason>();

  constructor(parts: SettingsParts, onDidChange: (event: FileChangeEvent) => void) {
    this.#parts = parts;
    this.#onDidChange = onDidChange;
    const check = (document: TextDocument) => this.#check(document);
    this.#disposables.add(parts.inventory.onDidChange((changes) => this.#follow(changes)));
    this.#disposables.add(workspace.onDidOpenTextDocument(check));
    this.#disposables.add(workspace.onDidChangeTextDocument(({ document }) => check(document)));
    this.#disposables.add(workspace.onDidSaveTextDocument(check));
    this.#disposables.add(
      workspace.onWillSaveTextDocument(({ document, reason }) => {
        if (isSettings(document)) this.#saveReasons.set(document.uri.toString(), reason);
      }),
    );
    this.#disposables.add(workspace.onDidCloseTextDocument((document) => this.#close(document)));
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { length: size } = await this.read(uri);
    const mtime = this.#documents.get(uri.toString())?.changedAt ?? Date.now();
    const stat = { type: FileType.File, ctime: 0, mtime, size };
    return uri.fragment === '' ? stat : { ...stat, permissions: FilePermission.Readonly };
  }

  /** @param uri with a fragment: the settings on the service, to compare with */
  async read(uri: Uri): Promise<Uint8Array> {
    const { session, inventory } = this.#parts;
    const text =
      uri.fragment === ''
        ? (await this.#open(uri)).text
        : formatSettings(settingsOn(await readCompute(inventory, requireAccount(session, uri))));
    return new TextEncoder().encode(text);
  }

  async write(uri: Uri, content: Uint8Array): Promise<void> {
    const text = new TextDecoder().decode(content);
    const document = await this.#open(uri);
    const parsed = parseSettings(text);
    const isManual = this.#saveReasons.get(uri.toString()) === TextDocumentSaveReason.Manual;
    // Auto save must not restart a compute.
    if (parsed.problems !== undefined || !isManual) {
      document.save(text, 'notApplied');
      if (isManual) announceNotApplied();
      return;
    }
    const { status } = document;
    document.status = 'saving';
    try {
      const isAccepted = await applySettings(this.#parts, document, text, parsed.settings);
      if (isAccepted) void closeUnchanged(serviceVersion(uri));
    } catch (error) {
      document.status = status;
      throw error;
    }
  }

  /** @returns whether an open document shows how the change ended */
  show({ change, outcome, reason }: ChangeEnd): boolean {
    const document = [...this.#documents.values()].find(
      ({ before, owner }) =>
        before !== undefined && owner.projectId === change.projectId && owner.computeId === change.computeId,
    );
    if (document === undefined || change.verb !== 'edit') return false;
    if (outcome !== 'failed') {
      document.before = undefined;
      return false;
    }
    document.reject(sanitize(reason ?? l10n.t('the service gave no reason')));
    const open = openDocument(document.uri);
    if (open !== undefined) this.#check(open);
    announceNotApplied();
    return tabsOf(document.uri).length > 0;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #open(uri: Uri): Promise<SettingsDocument> {
    const key = uri.toString();
    const known = this.#documents.get(key);
    if (known !== undefined) return known;
    const { session, inventory } = this.#parts;
    // After a reload VS Code restores documents before the account is known.
    await session.whenRead();
    const owner = requireAccount(session, uri);
    const settings = settingsOn(await readCompute(inventory, owner));
    // Another call may have opened it by now.
    const document = this.#documents.get(key) ?? new SettingsDocument(uri, owner, settings);
    this.#documents.set(key, document);
    return document;
  }

  #check(document: TextDocument): void {
    if (!isSettings(document) || document.uri.fragment !== '') return;
    const state = this.#documents.get(document.uri.toString());
    this.#problems.set(document.uri, diagnosticsOf(document, state));
  }

  #close({ uri }: TextDocument): void {
    this.#documents.delete(uri.toString());
    this.#saveReasons.delete(uri.toString());
    this.#problems.delete(uri);
  }

  #follow(changes: readonly InventoryChange[]): void {
    const account = this.#parts.session.connection?.account;
    const isAll = changes.some(({ kind }) => kind === 'all');
    const projects = new Set(changes.flatMap((change) => ('projectId' in change ? [change.projectId] : [])));
    for (const document of this.#documents.values()) {
      const isOfOther = account === undefined || !belongsToAccount(document.uri, account);
      if (isAll && isOfOther) void closeUnchanged(document.uri);
      else if (projects.has(document.owner.projectId)) this.#update(document);
    }
  }

  /** Takes over changes by other clients, but never replaces what the user has typed. */
  #update(document: SettingsDocument): void {
    const list = this.#parts.inventory.computesOf(document.owner.projectId);
    if (list?.isLoaded !== true || list.failure !== undefined) return;
    const compute = list.computes.get(document.owner.computeId);
    if (compute === undefined) return void closeUnchanged(document.uri);
    const hasUserChanges = document.status !== 'applied' || openDocument(document.uri)?.isDirty === true;
    const settings = settingsOn(compute);
    if (hasUserChanges || document.isKnown(settings)) return;
    document.accept(formatSettings(settings), settings);
    this.#onDidChange({ type: FileChangeType.Changed, uri: document.uri });
  }
}

const isSettings = ({ uri }: TextDocument): boolean => uri.scheme === SETTINGS_SCHEME;

const openDocument = (uri: Uri): TextDocument | undefined =>
  workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());

/** Closes the tabs that show the document, except those with unsaved changes. */
async function closeUnchanged(uri: Uri): Promise<void> {
  const tabs = tabsOf(uri).filter((tab) => !tab.isDirty);
  if (tabs.length > 0) await window.tabGroups.close(tabs, true);
}

const tabsOf = (uri: Uri): Tab[] =>
  window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter((tab) => urisIn(tab).some((each) => each.toString() === uri.toString()));

function urisIn({ input }: Tab): readonly Uri[] {
  if (input instanceof TabInputText) return [input.uri];
  return input instanceof TabInputTextDiff ? [input.original, input.modified] : [];
}
