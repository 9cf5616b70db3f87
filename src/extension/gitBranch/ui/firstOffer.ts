/** Offers a database branch to a repository that uses none, once for the repository and all its worktrees. */
import { l10n, window as vscodeWindow, workspace, type WorkspaceFolder } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Session } from '../../account/session.ts';
import { envVariable } from '../../envFile/ui/envFile.ts';
import { readEnv } from './envValue.ts';
import { runGit } from '../../envFile/ui/git.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { isQuiet } from '../../inventory/ui/isQuiet.ts';
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

/** The repositories for which it was offered, by the folder that their worktrees share. */
const ENTRY = 'hostedPostgres.offeredRepositories';

/** The oldest ones are dropped. */
const MAX_REPOSITORIES = 200;

/** Folders whose database branch the user has run a command for. */
const usedFolders = new Set<string>();

/** Call it when a command begins, so that the offer doesn't come between its questions. */
export const stopOffering = (folder: WorkspaceFolder): unknown => usedFolders.add(folder.uri.fsPath);

/** Listens until the lists are loaded, and then to checkouts, without timers and requests. */
export function offerFirstBranch(deps: OfferDependencies, memory: Memory): Disposable {
  const { session, inventory, log } = deps;
  const disposables = new DisposableStore();
  const watched = new Set<string>();
  const checked = new Set<string>();
  let running: Promise<void> | undefined;
  let isDisposed = false;
  const mayAsk = () => !isDisposed && isQuiet(deps);
  const watch = (repository: Repository) => {
    if (watched.has(repository.gitDir)) return;
    watched.add(repository.gitDir);
    disposables.add(watchFiles(stateFiles(repository), update));
  };
  const check = async (folder: WorkspaceFolder) => {
    const repository = await findRepository(folder.uri.fsPath);
    if (repository === undefined || offeredIn(memory).includes(repository.commonDir)) return;
    watch(repository);
    const { branch, pause } = await readGitState(repository, runGit);
    const key = `${folder.uri.fsPath}\n${branch}`;
    if (branch === undefined || pause !== undefined || checked.has(key)) return;
    if (!(await needsBranch(deps, repository, folder, branch))) return void checked.add(key);
    // The window may have changed in the meantime.
    if (!mayAsk() || usedFolders.has(folder.uri.fsPath)) return;
    await memory.update(ENTRY, [...offeredIn(memory), repository.commonDir].slice(-MAX_REPOSITORIES));
    void offer(deps, folder, branch);
  };
  const checkAll = async () => {
    for (const folder of workspace.workspaceFolders ?? [])
      if (folder.uri.scheme === 'file' && mayAsk()) await check(folder);
  };
  const update = () => {
    if (running !== undefined || !mayAsk()) return;
    running = checkAll()
      .catch((error: unknown) => log.error('Offering a database branch', error))
      .finally(() => (running = undefined));
  };
  for (const member of [
    session.onDidChange(update),
    inventory.onDidChange(update),
    vscodeWindow.onDidChangeWindowState(update),
    workspace.onDidGrantWorkspaceTrust(update),
  ])
    disposables.add(member);
  disposables.add({ dispose: () => (isDisposed = true) });
  return disposables;
}

const offeredIn = (memory: Memory): readonly unknown[] => {
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
  const { value = '', file } = await readEnv(envVariable(config, folder));
  if (value !== '' || (file !== 'writable' && file !== 'none')) return false;
  if (await isFollowedByNeon(repository.worktree)) return false;
  const map = await readBranchMap(runGit, folder.uri.fsPath);
  if (map.isFollowed || map.parent !== undefined || map.branches.size > 0) return false;
  return !(await isDefaultBranch(repository, gitBranch, map, runGit));
}

async function offer(
  { config }: OfferDependencies,
  folder: WorkspaceFolder,
  gitBranch: string,
): Promise<void> {
  const yes = l10n.t('Yes');
  const question = l10n.t(
    'Give {0} its own database? {1} gets its URL.',
    sanitize(gitBranch),
    envVariable(config, folder).file,
  );
  const chosen = await window.showInformationMessage(question, yes, l10n.t('Not Here'));
  if (chosen === yes)
    await executeCommand('hostedPostgres.workBranch.create', { folder: folder.uri.fsPath, gitBranch });
}
