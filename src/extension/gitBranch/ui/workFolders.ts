/** The workspace folders with their git branches and env files, kept up to date while there is something to show. */
import path from 'node:path';
import { l10n, window as vscodeWindow, workspace, type WorkspaceFolder } from 'vscode';
import { systemClock } from '../../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import { Emitter } from '../../../base/event.ts';
import type { Session } from '../../account/session.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { KnownHosts } from '../knownHosts.ts';
import { readVariable } from '../envVariable.ts';
import { WorkFolder, type WorkFolderState } from '../workFolder.ts';
import { envVariable } from '../../envFile/ui/envFile.ts';
import { findRelatedVariables, readEnv, replaceEnv } from './envValue.ts';
import { runGit } from '../../envFile/ui/git.ts';
import type { Log } from '../../window/ui/log.ts';
import type { Config } from '../../window/ui/config.ts';
import { knownBranchName } from './workBranchText.ts';
import { askForDatabaseBranch, SwitchNotices, type NamedBranch } from './followNotices.ts';
import { findTarget } from '../findTarget.ts';

interface WorkFoldersDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly knownHosts: KnownHosts;
  readonly config: Config;
  readonly log: Log;
}

export interface ShownFolder {
  readonly folder: WorkspaceFolder;
  readonly work: WorkFolder;
}

/** Milliseconds. Lists change often while they are loading. */
const INVENTORY_DELAY = 300;

export class WorkFolders implements Disposable {
  readonly #deps: WorkFoldersDependencies;
  readonly notices: SwitchNotices;
  readonly #disposables = new DisposableStore();
  readonly #changed = new Emitter<void>();
  #folders: ReadonlyMap<string, ShownFolder> = new Map();
  #timer: Disposable | undefined;

  /** Fires when the state of a folder changed, or another folder is shown. */
  readonly onDidChange = this.#changed.event;

  constructor(deps: WorkFoldersDependencies) {
    this.#deps = deps;
    this.notices = new SwitchNotices(deps.log);
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

  /** Only folders on disk can have a git repository. */
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
    const { session, inventory, knownHosts, config, log } = this.#deps;
    const variable = () => envVariable(config, folder);
    const work: WorkFolder = new WorkFolder(folder.uri.fsPath, {
      runGit,
      clock: systemClock,
      knownHosts,
      isTrusted: () => workspace.isTrusted,
      account: () => session.connection?.accountId,
      readEnv: () => readEnv(variable()),
      readOther: (other, folders) =>
        readVariable(path.join(other, variable().file), variable().name, folders),
      switchEnv: async (target, before, after) => {
        const { name, file } = variable();
        const { changes, left } = await findRelatedVariables(this.#deps, variable(), target);
        if (left.length > 0) throw new Error(l10n.t("{0} in {1} can't follow.", left.join(', '), file));
        const written = await replaceEnv(variable(), [{ name, before, after }, ...changes]);
        if (written === undefined) return false;
        const known = knownHosts.find(target);
        const branch = known === undefined ? target.branchId : knownBranchName(known);
        this.notices.show(work, written, l10n.t('{0} points to {1}', file, branch));
        return true;
      },
      findTarget: (target, before) => findTarget({ session, inventory, knownHosts }, target, before),
      ask: (gitBranch, reason) => {
        if (!vscodeWindow.state.focused) return false;
        void askForDatabaseBranch(work, log, { gitBranch, reason, parent: this.#parentOf(work) });
        return true;
      },
      onError: (error) => log.error('Following the Git branch', error),
    });
    work.onDidChange(() => this.#changed.fire());
    return work;
  }

  /** The chosen parent, unless it is production: a click on the wrong button must not connect to production. */
  #parentOf({ state: { map } }: WorkFolder): NamedBranch | undefined {
    const { inventory, config } = this.#deps;
    const ref = map.parent;
    const branch = ref && inventory.branches.get(ref.projectId, ref.branchId);
    if (ref === undefined || branch === undefined || branch.protected === true) return undefined;
    const isProduction = [ref.projectId, ref.account].some((id) => config.marks[id] !== undefined);
    return isProduction ? undefined : { ref, name: branch.name };
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
