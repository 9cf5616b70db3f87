/**
 * Reads and saves settings documents. If the service has newer settings than the document, VS Code offers to compare or
 * overwrite them. Saving takes until the service has applied the change. If the change fails, the save fails with the
 * reason, and the document stays unsaved.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  extensions,
  FileChangeType,
  FileSystemError,
  FileType,
  l10n,
  languages,
  TextDocumentSaveReason,
  workspace,
  type EventEmitter,
  type FileChangeEvent,
  type FileStat,
  type TextDocument,
  type Uri,
} from 'vscode';
import { isRejected } from '../../../api/transport/errors.ts';
import type { Compute } from '../../../api/records/records.ts';
import { systemClock } from '../../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { AccountConnection } from '../../account/accountConnection.ts';
import { computeNodeOf, changedProjects, type InventoryEvent } from '../../inventory/nodes.ts';
import type { ChangeEnd } from '../../operations/pendingChange.ts';
import {
  belongsToAccount,
  formatSettings,
  parsePgSettings,
  parseSettingsUri,
} from '../settings/pgSettings.ts';
import { computeStatus, postgresSettings, type PostgresSettings } from '../../inventory/computeStatus.ts';
import { SETTINGS_SCHEME } from '../settings/settingsScheme.ts';
import { announce } from '../../window/ui/announce.ts';
import { approveChange, requireWritable } from '../../operations/ui/approval.ts';
import { changeTexts, changeEndText, effectText } from '../../operations/ui/changeText.ts';
import { explainError } from '../../window/ui/errorMessage.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { displayName } from '../../../base/sanitize.ts';
import type { Session } from '../../account/session.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { ChangeGuards } from '../../operations/guards.ts';
import type { ComputeActions } from '../computeActions.ts';
import { createDiagnostics, problemsText, type RejectedText } from './settingsDiagnostics.ts';

interface SettingsDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly guards: ChangeGuards;
  readonly computeActions: ComputeActions;
}

interface LoadedCompute {
  readonly connection: AccountConnection;
  readonly compute: Compute;
}

interface WaitingSave {
  /** When the save began, in milliseconds since 1970. A change that began earlier may end while the save waits. */
  readonly since: number;
  readonly resolve: (end: ChangeEnd) => void;
}

/** Reads, checks and saves settings documents. */
export class SettingsDocuments implements Disposable {
  readonly #deps: SettingsDependencies;
  readonly #changed: EventEmitter<FileChangeEvent[]>;
  readonly #disposables = new DisposableStore();
  readonly #problems = this.#disposables.add(
    languages.createDiagnosticCollection('hosted-postgres-settings'),
  );
  /** What the service has rejected, by URI. */
  readonly #rejected = new Map<string, RejectedText>();
  /** Why each document was last saved, by URI. */
  readonly #saveReasons = new Map<string, TextDocumentSaveReason>();
  /** Saves that wait for the end of their change, by account and compute. */
  readonly #waiting = new Map<string, WaitingSave>();

  constructor(deps: SettingsDependencies, changed: EventEmitter<FileChangeEvent[]>) {
    this.#deps = deps;
    this.#changed = changed;
    const check = (document: TextDocument) => this.#check(document);
    this.#disposables.add(deps.inventory.onDidChange((changes) => this.#follow(changes)));
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

  /** Says that the file has changed if its settings have. Before a save, VS Code compares the result with that of its last read. */
  async stat(uri: Uri): Promise<FileStat> {
    const bytes = await this.read(uri);
    // VS Code considers the file on the service newer if its time is later and its size differs. So the time is always
    // later, and the size is a checksum of the settings.
    const size = bytes.reduce((sum, byte) => (sum * 31 + byte) % 65_521, 0);
    return { type: FileType.File, ctime: 0, mtime: Date.now(), size };
  }

  async read(uri: Uri): Promise<Uint8Array> {
    // VS Code's JSON extension checks and completes the document, but VS Code starts it only for its own languages.
    void extensions.getExtension('vscode.json-language-features')?.activate();
    const { compute } = await this.#load(uri).catch(rethrow);
    return new TextEncoder().encode(formatSettings(postgresSettings(compute)));
  }

  /** @throws {FileSystemError} why the settings were not applied */
  async write(uri: Uri, content: Uint8Array): Promise<void> {
    await this.#save(uri, new TextDecoder().decode(content)).catch(rethrow);
  }

  /** Returns whether a save reports this end of a change. */
  handleEnd(end: ChangeEnd): boolean {
    const { account, verb, computeId = '', since } = end.change;
    const save = this.#waiting.get(`${account} ${computeId}`);
    if (save === undefined || verb !== 'edit' || since < save.since) return false;
    save.resolve(end);
    return end.outcome !== 'finished';
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #save(uri: Uri, text: string): Promise<void> {
    const { guards } = this.#deps;
    const { connection, compute } = await this.#load(uri);
    requireWritable(guards, computeNodeOf(compute));
    const { settings, problems } = parsePgSettings(text);
    if (problems !== undefined) throw new Error(l10n.t('Not applied. {0}', problemsText(problems)));
    // An auto save must not restart a compute, so it fails. VS Code doesn't repeat an auto save that has failed.
    if (this.#saveReasons.get(uri.toString()) !== TextDocumentSaveReason.Manual)
      throw new Error(l10n.t("Auto Save doesn't restart computes. Save the document yourself to apply it."));
    this.#rejected.delete(uri.toString());
    const node = computeNodeOf(compute);
    const name = displayName(compute);
    const fullName = resourceText(this.#deps.inventory, node);
    if (isDeepStrictEqual(settings, postgresSettings(compute)))
      return announce(l10n.t('Nothing to change on {0}', fullName));
    const question = l10n.t('Apply the Postgres settings to {0}?', fullName);
    // A change takes effect at once and drops the connections of an active compute.
    const detail = computeStatus(compute) === 'idle' ? undefined : effectText('restart');
    const texts = { name, question, detail, button: l10n.t('Apply and Restart') };
    if (!(await approveChange(guards, { ...node, ...texts, drops: [node] }, connection)))
      throw new Error(l10n.t('Not applied: the restart was canceled'));
    // All settings are replaced, so a change that was made while the question was open would be lost.
    const { compute: latest } = await this.#load(uri);
    if (!isDeepStrictEqual(postgresSettings(latest), postgresSettings(compute)))
      throw new Error(
        l10n.t('Not applied: the settings were changed while you were asked. Save again to compare them'),
      );
    const reason = await this.#apply({ connection, compute }, settings);
    if (reason === undefined) return;
    this.#rejected.set(uri.toString(), { text, reason });
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open !== undefined) this.#check(open);
    throw new Error(reason);
  }

  /** Waits for the end of the change. @returns why the service rejected the settings; undefined if it didn't */
  async #apply(
    { connection, compute }: LoadedCompute,
    settings: PostgresSettings,
  ): Promise<string | undefined> {
    const { promise: ended, resolve } = Promise.withResolvers<ChangeEnd | undefined>();
    // If the connection is closed, the status bar reports the end when the window uses the account again.
    connection.signal.addEventListener('abort', () => resolve(undefined));
    const waiting = `${connection.accountId} ${compute.id}`;
    this.#waiting.set(waiting, { since: systemClock.now(), resolve });
    try {
      const change = { settings: { pg_settings: { ...settings } } };
      const options = { initialConnection: connection };
      const { pendingId } = await this.#deps.computeActions.update(computeNodeOf(compute), change, options);
      if (pendingId === undefined)
        announce(changeTexts('edit', resourceText(this.#deps.inventory, computeNodeOf(compute))).done);
      const end = pendingId === undefined ? undefined : await ended;
      if (end?.outcome === 'failed') return end.reason ?? l10n.t('the service gave no reason');
      if (end !== undefined && end.outcome !== 'finished') throw new Error(changeEndText(end));
      return undefined;
    } catch (error) {
      if (isRejected(error, 400, 409, 422)) return explainError(error).message;
      throw error;
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  /** Reads the compute from the service. */
  async #load(uri: Uri): Promise<LoadedCompute> {
    const { session, inventory } = this.#deps;
    // After a reload, VS Code restores documents before the account is known.
    await session.whenRead();
    const owner = parseSettingsUri(uri);
    if (owner === undefined) throw FileSystemError.FileNotFound(uri);
    const connection = session.requireConnection();
    if (!belongsToAccount(uri, connection.account))
      throw new Error(l10n.t('This document belongs to another account. Switch to that account first.'));
    const { projectId, computeId } = owner;
    inventory.markChanged(projectId);
    await inventory.refreshComputes(projectId).catch((error: unknown) => {
      if (!isRejected(error, 404)) throw error;
    });
    const compute = inventory.compute(projectId, computeId);
    if (compute === undefined) throw new Error(l10n.t('{0} no longer exists.', computeId));
    return { connection, compute };
  }

  #check(document: TextDocument): void {
    if (!isSettings(document)) return;
    this.#problems.set(
      document.uri,
      createDiagnostics(document, this.#rejected.get(document.uri.toString())),
    );
  }

  #close({ uri }: TextDocument): void {
    this.#rejected.delete(uri.toString());
    this.#saveReasons.delete(uri.toString());
    this.#problems.delete(uri);
  }

  /** Reports changes by other clients. A document with unsaved changes keeps them. */
  #follow(changes: readonly InventoryEvent[]): void {
    const { session, inventory } = this.#deps;
    const account = session.connection?.account;
    const projects = changedProjects(changes);
    for (const document of workspace.textDocuments) {
      const { uri } = document;
      const owner = isSettings(document) ? parseSettingsUri(uri) : undefined;
      if (owner === undefined || account === undefined || !belongsToAccount(uri, account)) continue;
      const list = inventory.computesOf(owner.projectId);
      if (!projects.has(owner.projectId) || list?.isLoaded !== true || list.failure !== undefined) continue;
      const compute = list.computes.get(owner.computeId);
      if (compute === undefined) this.#changed.fire([{ type: FileChangeType.Deleted, uri }]);
      else if (!document.isDirty && !hasSettings(document, postgresSettings(compute)))
        this.#changed.fire([{ type: FileChangeType.Changed, uri }]);
    }
  }
}

function hasSettings(document: TextDocument, settings: PostgresSettings): boolean {
  const text = document.getText();
  const shown = parsePgSettings(text).settings;
  return text === formatSettings(settings) || (shown !== undefined && isDeepStrictEqual(shown, settings));
}

/** Throws an error that VS Code shows. VS Code shows a file system's message only if it is that of a `FileSystemError`. */
const rethrow = (error: unknown): never => {
  throw error instanceof FileSystemError ? error : FileSystemError.Unavailable(explainError(error).message);
};

const isSettings = ({ uri }: TextDocument): boolean => uri.scheme === SETTINGS_SCHEME;
