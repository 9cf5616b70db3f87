/** The workspace folders with their git branches and env files, kept up to date while there is something to show. */
import { window as vscodeWindow, workspace, type WorkspaceFolder } from 'vscode';
import { systemClock } from '../../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import { Emitter } from '../../../base/event.ts';
import type { Session } from '../../account/session.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { KnownHosts } from '../knownHosts.ts';
import { WorkFolder, type WorkFolderState } from '../workFolder.ts';
import { FolderEnv } from '../../envFile/ui/folderEnv.ts';
import { runGit } from '../../window/ui/git.ts';
import type { Log } from '../../window/ui/log.ts';
import type { Config } from '../../window/ui/config.ts';
import { FollowNotices } from './followNotices.ts';

interface WorkFoldersDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly knownHosts: KnownHosts;
  readonly config: Config;
  readonly log: Log;
}

/** A folder of the window, with its git branch and env file. */
export interface ShownFolder {
  readonly folder: WorkspaceFolder;
  readonly work: WorkFolder;
}

/** Milliseconds after a change of a list until folders are read again. Lists change often while they are loading. */
const INVENTORY_DELAY = 300;

/** Keeps the folders of the window up to date. */
export class WorkFolders implements Disposable {
  readonly #deps: WorkFoldersDependencies;
  readonly notices: FollowNotices;
  readonly #disposables = new DisposableStore();
  readonly #changed = new Emitter<void>();
  #folders: ReadonlyMap<string, ShownFolder> = new Map();
  #timer: Disposable | undefined;

  /** Fires when the state of a folder changed, or another folder is shown. */
  readonly onDidChange = this.#changed.event;

  constructor(deps: WorkFoldersDependencies) {
    this.#deps = deps;
    this.notices = new FollowNotices(deps);
    const { inventory, knownHosts, config, session } = deps;
    const refresh = () => this.refresh();
    const members = [
      workspace.onDidChangeWorkspaceFolders(() => this.#setFolders()),
      workspace.onDidGrantWorkspaceTrust(refresh),
      vscodeWindow.onDidChangeActiveTextEditor(() => this.#changed.fire()),
      vscodeWindow.onDidChangeWindowState(({ focused }) => focused && refresh()),
      knownHosts.onDidChange(refresh),
      session.onDidChange(refresh),
      config.onDidChange(refresh),
      inventory.onDidChange(() => this.#scheduleHosts()),
    ];
    for (const member of members) this.#disposables.add(member);
    this.#setFolders();
  }

  /** The active editor's folder if it has something to show, or else the first folder that does. */
  get shown(): ShownFolder | undefined {
    const isShown = ({ work }: ShownFolder) => work.state.current !== undefined || work.state.map.isFollowed;
    const editor = vscodeWindow.activeTextEditor?.document.uri;
    const active = editor && workspace.getWorkspaceFolder(editor)?.uri.toString();
    const first = active === undefined ? undefined : this.#folders.get(active);
    return first !== undefined && isShown(first) ? first : [...this.#folders.values()].find(isShown);
  }

  get states(): readonly WorkFolderState[] {
    return [...this.#folders.values()].map(({ work }) => work.state);
  }

  of(folder: WorkspaceFolder): WorkFolder | undefined {
    return this.#folders.get(folder.uri.toString())?.work;
  }

  refresh(): void {
    for (const { work } of this.#folders.values()) void work.refresh();
    this.#changed.fire();
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#disposables.dispose();
    for (const { work } of this.#folders.values()) work.dispose();
    this.#changed.dispose();
  }

  /** Follows the folders of the window. Only folders on disk can have a git repository. */
  #setFolders(): void {
    const before = this.#folders;
    const folders = (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
    this.#folders = new Map(
      folders.map((folder) => {
        const id = folder.uri.toString();
        return [id, before.get(id) ?? { folder, work: this.#create(folder) }];
      }),
    );
    for (const [id, { work }] of before) if (!this.#folders.has(id)) work.dispose();
    this.refresh();
  }

  #create(folder: WorkspaceFolder): WorkFolder {
    const env = new FolderEnv(this.#deps.config, folder);
    const { notices } = this;
    const work = new WorkFolder(folder.uri.fsPath, env, {
      ...this.#deps,
      runGit,
      clock: systemClock,
      notices,
    });
    work.onDidChange(() => this.#changed.fire());
    return work;
  }

  #scheduleHosts(): void {
    this.#timer ??= systemClock.after(INVENTORY_DELAY, () => {
      this.#timer = undefined;
      void this.#updateHosts().catch((error: unknown) => this.#deps.log.error('Updating hosts', error));
    });
  }

  async #updateHosts(): Promise<void> {
    const { inventory, knownHosts, session } = this.#deps;
    if (session.connection === undefined) return;
    const hosts = [...this.#folders.values()].flatMap(({ work }) => work.state.host ?? []);
    await knownHosts.refresh(inventory, session.connection.accountId, hosts);
  }
}
