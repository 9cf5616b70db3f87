/** Offers a database branch to a repository that uses none, once for the repository and all its worktrees. */
import { l10n, window as vscodeWindow, workspace, type WorkspaceFolder } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Session } from '../../account/session.ts';
import { FolderEnv } from '../../envFile/ui/folderEnv.ts';
import { runGit } from '../../window/ui/git.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { canAnswerOffer } from './canAnswerOffer.ts';
import type { Memory } from '../../window/memory.ts';
import type { Config } from '../../window/ui/config.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import type { Log } from '../../window/ui/log.ts';
import { window } from '../../window/ui/window.ts';
import { readBranchMap } from '../branchMap.ts';
import { isDefaultBranch, readGitState, stateFiles } from '../gitState.ts';
import { findRepository, type Repository } from '../../../base/git/repository.ts';
import { isFollowedByNeon } from '../neonFile.ts';
import { watchFiles } from '../watchFiles.ts';

interface OfferDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly config: Config;
  readonly log: Pick<Log, 'error'>;
}

/** The repositories for which the offer was made, by the folder that their worktrees share. */
const ENTRY = 'hostedPostgres.offeredRepositories';

/** The most repositories that are remembered. The oldest ones are dropped. */
const MAX_REPOSITORIES = 200;

/** The paths of folders for which the user has run a command about the database branch. */
const usedFolders = new Set<string>();

/** Call it when a command begins, so that the offer doesn't come between its questions. */
export const stopOffering = (folder: WorkspaceFolder): unknown => usedFolders.add(folder.uri.fsPath);

/**
 * Offers a database branch for a git branch where one is missing. Checks the folders when the connection, the lists, the window's
 * state or its trust change, and after checkouts, without timers and requests.
 */
export class FirstOffer implements Disposable {
  readonly #deps: OfferDependencies;
  readonly #memory: Memory;
  readonly #disposables = new DisposableStore();
  /** The git directories whose checkouts are listened to. */
  readonly #watched = new Set<string>();
  /** The folders that were checked, each with the git branch that needs no database branch. */
  readonly #checked = new Set<string>();
  #isChecking = false;
  /** Whether something has changed since the last check has begun. */
  #isOutdated = false;
  #isDisposed = false;

  constructor(deps: OfferDependencies, memory: Memory) {
    this.#deps = deps;
    this.#memory = memory;
    for (const member of [
      deps.session.onDidChange(this.#update),
      deps.inventory.onDidChange(this.#update),
      vscodeWindow.onDidChangeWindowState(this.#update),
      workspace.onDidGrantWorkspaceTrust(this.#update),
    ])
      this.#disposables.add(member);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#disposables.dispose();
  }

  get #mayAsk(): boolean {
    return !this.#isDisposed && canAnswerOffer(this.#deps);
  }

  readonly #update = (): void => {
    this.#isOutdated = true;
    if (this.#isChecking || !this.#mayAsk) return;
    this.#isChecking = true;
    void this.#checkFolders()
      .catch((error: unknown) => this.#deps.log.error('Offering a database branch', error))
      .finally(() => (this.#isChecking = false));
  };

  async #checkFolders(): Promise<void> {
    while (this.#isOutdated) {
      this.#isOutdated = false;
      for (const folder of workspace.workspaceFolders ?? [])
        if (folder.uri.scheme === 'file' && this.#mayAsk) await this.#checkFolder(folder);
    }
  }

  async #checkFolder(folder: WorkspaceFolder): Promise<void> {
    const repository = await findRepository(folder.uri.fsPath);
    const offered = () => offeredRepositories(this.#memory);
    if (repository === undefined || offered().includes(repository.commonDir)) return;
    this.#watch(repository);
    const { branch, pause } = await readGitState(repository, runGit);
    const key = `${folder.uri.fsPath}\n${branch}`;
    if (branch === undefined || pause !== undefined || this.#checked.has(key)) return;
    if (!(await needsBranch(this.#deps, repository, folder, branch))) return void this.#checked.add(key);
    // The window may have changed in the meantime.
    if (!this.#mayAsk || usedFolders.has(folder.uri.fsPath)) return;
    await this.#memory.update(ENTRY, [...offered(), repository.commonDir].slice(-MAX_REPOSITORIES));
    void offerBranch(this.#deps, folder, branch);
  }

  #watch(repository: Repository): void {
    if (this.#watched.has(repository.gitDir)) return;
    this.#watched.add(repository.gitDir);
    this.#disposables.add(watchFiles(stateFiles(repository), this.#update));
  }
}

const offeredRepositories = (memory: Memory): readonly unknown[] => {
  const stored = memory.get(ENTRY);
  return Array.isArray(stored) ? stored : [];
};

/**
 * Whether the git branch should get a database branch. The default git branch shouldn't: it should keep the database that
 * all share. Nor should any branch if the repository's map or the file already name a database of any account.
 */
async function needsBranch(
  { config }: OfferDependencies,
  repository: Repository,
  folder: WorkspaceFolder,
  gitBranch: string,
): Promise<boolean> {
  const { value = '', file } = await new FolderEnv(config, folder).read();
  if (value !== '' || (file !== 'writable' && file !== 'none')) return false;
  if (await isFollowedByNeon(repository.worktree)) return false;
  const map = await readBranchMap(runGit, folder.uri.fsPath);
  if (map.isFollowed || map.parent !== undefined || map.branches.size > 0) return false;
  return !(await isDefaultBranch(repository, gitBranch, map, runGit));
}

async function offerBranch(
  { config }: OfferDependencies,
  folder: WorkspaceFolder,
  gitBranch: string,
): Promise<void> {
  const yes = l10n.t('Yes');
  const question = l10n.t(
    'Create a database branch for {0}, and write its URL to {1}?',
    sanitize(gitBranch),
    new FolderEnv(config, folder).file,
  );
  const chosen = await window.showInformationMessage(question, yes, l10n.t('Not in This Repository'));
  if (chosen === yes)
    await executeCommand('hostedPostgres.workBranch.create', { folder: folder.uri.fsPath, gitBranch });
}
