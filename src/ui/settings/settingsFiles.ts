/**
 * Settings documents as files: what VS Code reads and saves. A save that cannot be applied is kept in the document
 * with its reason beside the setting; one that nobody could do anything about in the document fails as saving does.
 */
import { crc32 } from 'node:zlib';
import {
  FileChangeType,
  FilePermission,
  FileType,
  l10n,
  TextDocumentSaveReason,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type TextDocument,
  type Uri,
} from 'vscode';
import type { Compute } from '../../api/records.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { ComputeChanges } from '../../model/computeChanges.ts';
import type { Inventory, InventoryChange } from '../../model/inventory.ts';
import type { ChangeEnd } from '../../model/pendingChange.ts';
import { formatSettings, parseSettings, settingsOn } from '../../model/pgSettings.ts';
import type { Session } from '../../model/session.ts';
import { isOfAccount, SETTINGS_SCHEME } from '../../model/settingsAddress.ts';
import { announce } from '../notifications/announce.ts';
import { sanitize } from '../text/sanitize.ts';
import { computeOf, requireAccount } from './settingsCompute.ts';
import { SettingsFile } from './settingsFile.ts';
import { closeUnchanged, documentOf, isShown } from './settingsOpen.ts';
import { SettingsProblems } from './settingsProblems.ts';
import { comparedTo } from './settingsQuestions.ts';
import { applySettings, refusalOf } from './settingsSaving.ts';

export interface SettingsParts {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly changes: ComputeChanges;
  readonly onDidChange: (events: FileChangeEvent[]) => void;
}

export class SettingsFiles implements Disposable {
  readonly #parts: SettingsParts;
  readonly #disposables = new DisposableStore();
  readonly #problems = this.#disposables.add(new SettingsProblems());
  readonly #files = new Map<string, SettingsFile>();
  /** Why each document was saved last. */
  readonly #reasons = new Map<string, TextDocumentSaveReason>();

  constructor(parts: SettingsParts) {
    this.#parts = parts;
    const look = (document: TextDocument) => this.#look(document);
    this.#disposables.add(parts.inventory.onDidChange((changes) => this.#follow(changes)));
    this.#disposables.add(workspace.onDidOpenTextDocument(look));
    this.#disposables.add(workspace.onDidChangeTextDocument(({ document }) => look(document)));
    this.#disposables.add(workspace.onDidSaveTextDocument(look));
    this.#disposables.add(
      workspace.onWillSaveTextDocument(({ document, reason }) => {
        if (isOurs(document)) this.#reasons.set(document.uri.toString(), reason);
      }),
    );
    this.#disposables.add(workspace.onDidCloseTextDocument((document) => this.#close(document)));
  }

  async stat(uri: Uri): Promise<FileStat> {
    const text = await this.#textOf(uri);
    const file = this.#files.get(uri.toString());
    // VS Code takes two versions of equal length for the same one, so the length is made to tell them apart.
    const size = text.length + (crc32(text) % 2 ** 20);
    const stat = { type: FileType.File, ctime: 0, mtime: file?.changedAt ?? Date.now(), size };
    const isReadOnly = uri.fragment !== '' || file?.isGone === true;
    return isReadOnly ? { ...stat, permissions: FilePermission.Readonly } : stat;
  }

  async read(uri: Uri): Promise<Uint8Array> {
    return new TextEncoder().encode(await this.#textOf(uri));
  }

  async write(uri: Uri, content: Uint8Array): Promise<void> {
    const text = new TextDecoder().decode(content);
    const file = await this.#fileOf(uri);
    const parsed = parseSettings(text);
    const isAsked = this.#reasons.get(uri.toString()) === TextDocumentSaveReason.Manual;
    if (parsed.problems !== undefined || !isAsked) {
      // An automatic save must not restart anything; what is wrong stands beside the settings.
      file.save(text);
      if (isAsked) announce(l10n.t('Not applied: the document has problems'), 'error');
      return;
    }
    file.isWriting = true;
    try {
      const outcome = await applySettings(this.#parts, file, parsed.settings);
      file.save(text);
      if (outcome.kind === 'accepted') {
        file.accepted(parsed.settings, outcome.before, outcome.isPending);
        void closeUnchanged(comparedTo(uri));
      }
      if (outcome.kind === 'refused') file.refused(outcome.refusal);
      if (outcome.words !== undefined)
        announce(outcome.words, outcome.kind === 'accepted' ? 'check' : 'error');
    } finally {
      file.isWriting = false;
    }
  }

  /** @returns whether an open document shows it */
  show({ change, outcome, reason }: ChangeEnd): boolean {
    const isMeant = ({ pending, owner }: SettingsFile) =>
      pending !== undefined && owner.projectId === change.projectId && owner.computeId === change.computeId;
    const file = change.verb === 'edit' ? [...this.#files.values()].find(isMeant) : undefined;
    if (file === undefined) return false;
    if (outcome !== 'failed') {
      file.pending = undefined;
      return false;
    }
    file.refused(refusalOf(sanitize(reason ?? l10n.t('the service gave no reason')), file.text));
    const document = documentOf(file.uri);
    if (document !== undefined) this.#look(document);
    announce(l10n.t('Not applied: the document has problems'), 'error');
    return isShown(file.uri);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** With a fragment: what is on the service now, to compare with. */
  async #textOf(uri: Uri): Promise<string> {
    if (uri.fragment === '') return (await this.#fileOf(uri)).text;
    const owner = requireAccount(this.#parts.session, uri);
    return formatSettings(settingsOn(await computeOf(this.#parts.inventory, owner)));
  }

  async #fileOf(uri: Uri): Promise<SettingsFile> {
    const known = this.#files.get(uri.toString());
    if (known !== undefined) return known;
    // Documents open from the last time are read before the secret store has answered.
    await this.#parts.session.known();
    const owner = requireAccount(this.#parts.session, uri);
    const file = new SettingsFile(uri, owner, settingsOn(await computeOf(this.#parts.inventory, owner)));
    const first = this.#files.get(uri.toString()) ?? file;
    this.#files.set(uri.toString(), first);
    return first;
  }

  #look(document: TextDocument): void {
    if (!isOurs(document) || document.uri.fragment !== '') return;
    this.#problems.update(document, this.#files.get(document.uri.toString()));
  }

  #close({ uri }: TextDocument): void {
    this.#files.delete(uri.toString());
    this.#reasons.delete(uri.toString());
    this.#problems.clear(uri);
  }

  #follow(changes: readonly InventoryChange[]): void {
    const isAll = changes.some(({ kind }) => kind === 'all');
    const touched = new Set(changes.flatMap((change) => ('projectId' in change ? [change.projectId] : [])));
    for (const file of this.#files.values()) {
      if (isAll && !this.#isOfSession(file)) void closeUnchanged(file.uri);
      else if (touched.has(file.owner.projectId)) this.#compare(file);
    }
  }

  #isOfSession({ uri }: SettingsFile): boolean {
    const { connection } = this.#parts.session;
    return connection !== undefined && isOfAccount(uri, connection.account);
  }

  /** Takes over what changed on the service, unless there is something of the user's in the document. */
  #compare(file: SettingsFile): void {
    const list = this.#parts.inventory.computesOf(file.owner.projectId);
    if (list?.isLoaded !== true || list.failure !== undefined) return;
    const compute = list.computes.get(file.owner.computeId);
    file.isGone = compute === undefined;
    if (compute === undefined) return void closeUnchanged(file.uri);
    if (this.#isLeftAlone(file, compute)) return;
    file.follow(settingsOn(compute));
    this.#parts.onDidChange([{ type: FileChangeType.Changed, uri: file.uri }]);
  }

  #isLeftAlone(file: SettingsFile, compute: Compute): boolean {
    const isUsers = file.isWriting || file.isDraft || documentOf(file.uri)?.isDirty === true;
    return isUsers || file.knows(settingsOn(compute));
  }
}

const isOurs = ({ uri }: TextDocument): boolean => uri.scheme === SETTINGS_SCHEME;
