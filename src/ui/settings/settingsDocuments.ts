/**
 * Reads and saves settings documents. If the service has newer settings than the document was read from, VS Code itself
 * offers to compare or overwrite them. A save that isn't applied fails with the reason, so the document keeps its changes.
 */
import {
  FileChangeType,
  FileSystemError,
  FileType,
  l10n,
  languages,
  TextDocumentSaveReason,
  workspace,
  type FileChangeEvent,
  type FileStat,
  type TextDocument,
  type Uri,
} from 'vscode';
import { isRejected } from '../../api/errors.ts';
import type { Compute } from '../../api/records/records.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { isEqual } from '../../base/equal.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import type { Guards } from '../../model/account/guards.ts';
import type { Session } from '../../model/account/session.ts';
import type { Inventory, InventoryEvent } from '../../model/inventory/inventory.ts';
import type { ComputeActions } from '../../model/operations/computeActions.ts';
import type { EndReport } from '../../model/operations/pendingChange.ts';
import {
  formatSettings,
  parseSettings,
  settingsOn,
  type SettingsText,
  belongsToAccount,
  SETTINGS_SCHEME,
  settingsOwner,
  type SettingsOwner,
} from '../../model/settings/pgSettings.ts';
import { announce } from '../notifications/announce.ts';
import { approve, readOnlyError } from '../notifications/approval.ts';
import { effectText } from '../text/effectText.ts';
import { explainError } from '../text/errorMessage.ts';
import { nameOrId } from '../text/sanitize.ts';
import { diagnosticsOf, type RejectedText } from './settingsDiagnostics.ts';

export interface SettingsParts {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly guards: Guards;
  readonly computeActions: ComputeActions;
}

interface OpenDocument {
  readonly uri: Uri;
  readonly owner: SettingsOwner;
  /** On the service, as far as the document knows. */
  settings: SettingsText;
  /** When `settings` changed, in milliseconds since 1970. */
  changedAt: number;
  /** A change that the service has accepted and not finished. If it fails, the compute gets its previous settings again. */
  pending?: { readonly text: string; readonly before: SettingsText } | undefined;
  rejected?: RejectedText | undefined;
}

interface LoadedDocument {
  readonly connection: AccountConnection | undefined;
  readonly document: OpenDocument;
  readonly compute: Compute;
}

export class SettingsDocuments implements Disposable {
  readonly #parts: SettingsParts;
  readonly #onDidChange: (event: FileChangeEvent) => void;
  readonly #disposables = new DisposableStore();
  readonly #problems = this.#disposables.add(
    languages.createDiagnosticCollection('hosted-postgres-settings'),
  );
  readonly #documents = new Map<string, OpenDocument>();
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

  /** VS Code compares it with that of the text it has read before it saves. */
  async stat(uri: Uri): Promise<FileStat> {
    const { settings, changedAt: mtime } = (await this.#load(uri)).document;
    // VS Code detects a newer file only if the size differs as well, so this is a checksum.
    const bytes = Buffer.from(formatSettings(settings));
    const size = bytes.reduce((sum, byte) => (sum * 31 + byte) % 65_521, 0);
    return { type: FileType.File, ctime: 0, mtime, size };
  }

  async read(uri: Uri): Promise<Uint8Array> {
    const { settings } = (await this.#load(uri)).document;
    return new TextEncoder().encode(formatSettings(settings));
  }

  /** @throws {FileSystemError} why the settings were not applied */
  async write(uri: Uri, content: Uint8Array): Promise<void> {
    const text = new TextDecoder().decode(content);
    const { connection, document, compute } = await this.#load(uri);
    const { settings, problems } = parseSettings(text);
    const { guards } = this.#parts;
    if (guards.cachedMark(document.owner) === 'readOnly')
      throw unavailable(explainError(readOnlyError(guards, document.owner)).message);
    if (problems !== undefined) throw unavailable(l10n.t('Not applied: the document has problems'));
    // VS Code doesn't repeat an auto save that has failed.
    if (this.#saveReasons.get(uri.toString()) !== TextDocumentSaveReason.Manual)
      throw unavailable(l10n.t('Auto Save restarts no compute. Save the document yourself to apply it.'));
    document.rejected = undefined;
    const name = nameOrId(compute.name, compute.id);
    if (isEqual(settings, document.settings)) return announce(l10n.t('{0} already has these settings', name));
    if (!(await approveRestart(guards, compute, connection)))
      throw unavailable(l10n.t('Not applied: the restart was canceled'));
    await this.#apply({ connection, document, compute }, text, settings);
  }

  /** @returns whether an open document shows how the change ended */
  show({ change, outcome, reason }: EndReport): boolean {
    const document = [...this.#documents.values()].find(
      ({ pending, owner }) =>
        pending !== undefined && owner.projectId === change.projectId && owner.computeId === change.computeId,
    );
    if (document?.pending === undefined || change.verb !== 'edit') return false;
    const { text, before } = document.pending;
    document.pending = undefined;
    if (outcome !== 'failed') return false;
    // The time stays: no other client has changed the settings.
    document.settings = before;
    document.rejected = { text, reason: reason ?? l10n.t('the service gave no reason') };
    const open = this.#checkOpen(document.uri);
    announce(l10n.t('Not applied: the document has problems'), 'error');
    return open !== undefined;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #apply(
    { connection, document, compute }: LoadedDocument,
    text: string,
    settings: SettingsText,
  ): Promise<void> {
    const before = document.settings;
    const { project_id: projectId, branch_id: branchId, id: computeId } = compute;
    const node = { kind: 'compute', projectId, branchId, computeId } as const;
    // From here on, the list may have the new settings.
    document.pending = { text, before };
    document.settings = settings;
    try {
      const change = { settings: { pg_settings: { ...settings } } };
      const { isPending } = await this.#parts.computeActions.update(node, change, {
        initialConnection: connection,
      });
      if (isPending) return;
      document.pending = undefined;
      announce(l10n.t('Changed {0}', nameOrId(compute.name, computeId)));
    } catch (error) {
      document.pending = undefined;
      document.settings = before;
      const { message } = explainError(error);
      if (isRejected(error, 400, 409, 422)) {
        document.rejected = { text, reason: message };
        this.#checkOpen(document.uri);
      }
      throw unavailable(message);
    }
  }

  /** Reads the compute from the service. @throws {FileSystemError} */
  async #load(uri: Uri): Promise<LoadedDocument> {
    const { session, inventory } = this.#parts;
    // After a reload VS Code restores documents before the account is known.
    await session.whenRead();
    const owner = requireAccount(session, uri);
    const { connection } = session;
    try {
      await inventory.refreshComputes(owner.projectId);
    } catch (error) {
      if (!isRejected(error, 404)) throw unavailable(explainError(error).message);
    }
    const compute = inventory.compute(owner.projectId, owner.computeId);
    if (compute === undefined) throw unavailable(l10n.t('{0} no longer exists.', owner.computeId));
    const key = uri.toString();
    const settings = settingsOn(compute);
    const document = this.#documents.get(key) ?? { uri, owner, settings, changedAt: Date.now() };
    this.#documents.set(key, document);
    takeOver(document, compute);
    return { connection, document, compute };
  }

  #checkOpen(uri: Uri): TextDocument | undefined {
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open !== undefined) this.#check(open);
    return open;
  }

  #check(document: TextDocument): void {
    if (!isSettings(document)) return;
    const open = this.#documents.get(document.uri.toString());
    this.#problems.set(document.uri, diagnosticsOf(document, open?.rejected));
  }

  #close({ uri }: TextDocument): void {
    this.#documents.delete(uri.toString());
    this.#saveReasons.delete(uri.toString());
    this.#problems.delete(uri);
  }

  /** Reports changes by other clients. VS Code keeps what the user has typed. */
  #follow(changes: readonly InventoryEvent[]): void {
    const projects = new Set(changes.flatMap((change) => ('projectId' in change ? [change.projectId] : [])));
    for (const document of this.#documents.values()) {
      const { uri, owner } = document;
      const list = this.#parts.inventory.computesOf(owner.projectId);
      if (!projects.has(owner.projectId) || list?.isLoaded !== true || list.failure !== undefined) continue;
      const compute = list.computes.get(owner.computeId);
      if (compute === undefined) this.#onDidChange({ type: FileChangeType.Deleted, uri });
      else if (takeOver(document, compute) && document.rejected === undefined)
        this.#onDidChange({ type: FileChangeType.Changed, uri });
    }
  }
}

/** @returns whether another client has changed the settings */
function takeOver(document: OpenDocument, compute: Compute): boolean {
  const settings = settingsOn(compute);
  const { pending } = document;
  const isOwn = pending !== undefined && isEqual(settings, pending.before);
  if (isOwn || isEqual(settings, document.settings)) return false;
  document.settings = settings;
  document.changedAt = Math.max(Date.now(), document.changedAt + 1);
  return true;
}

/** @throws {FileSystemError} if the document doesn't belong to the connected account */
function requireAccount({ connection }: Session, uri: Uri): SettingsOwner {
  const owner = settingsOwner(uri);
  if (owner === undefined) throw FileSystemError.FileNotFound(uri);
  if (connection === undefined) throw unavailable(l10n.t('Not connected. Run “Hosted Postgres: Connect…”.'));
  if (belongsToAccount(uri, connection.account)) return owner;
  throw unavailable(l10n.t('This document belongs to another account. Switch to that account first.'));
}

/** Section 3.2, rules 1 and 6: a change takes effect at once and drops connections. */
async function approveRestart(
  guards: Guards,
  compute: Compute,
  initialConnection: AccountConnection | undefined,
): Promise<boolean> {
  const name = nameOrId(compute.name, compute.id);
  const question = l10n.t('Apply the Postgres settings to {0}?', name);
  const texts = { name, question, detail: effectText('restart'), button: l10n.t('Apply and Restart') };
  const { project_id: projectId, branch_id: branchId, id: computeId } = compute;
  return await approve(guards, { projectId, branchId, computeId, ...texts }, initialConnection);
}

const unavailable = (message: string): FileSystemError => FileSystemError.Unavailable(message);

const isSettings = ({ uri }: TextDocument): boolean => uri.scheme === SETTINGS_SCHEME;
