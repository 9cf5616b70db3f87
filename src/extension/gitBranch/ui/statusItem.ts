/** The status bar item with the branch that the folder's env file points to. It needs no connection. */
import path from 'node:path';
import { l10n, workspace, type WorkspaceFolder } from 'vscode';
import { systemClock } from '../../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import { isPrimary, computeLabel } from '../../inventory/computeStatus.ts';
import type { AgentBranch, AgentBranches } from '../../inventory/agentBranches.ts';
import type { Session } from '../../account/session.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { changedProjects } from '../../inventory/nodes.ts';
import { isKnownExpired, isNotConnected } from '../knownHosts.ts';
import { readGitBranches } from '../gitState.ts';
import { findRepository } from '../../../base/git/repository.ts';
import { countUnusedBranches, type BranchUsage } from '../unusedBranches.ts';
import type { BranchRef } from '../../account/refs.ts';
import type { WorkFolderState } from '../workFolder.ts';
import { runGit } from '../../window/ui/git.ts';
import type { Config } from '../../window/ui/config.ts';
import { setFollowsGit } from '../../window/ui/contextKey.ts';
import { agentBranchName, agentBranchText } from '../../inventory/ui/agentText.ts';
import { fileProblemText } from '../../window/ui/fileProblemText.ts';
import { statusText } from '../../inventory/ui/computeText.ts';
import { formatDate } from '../../window/ui/timeText.ts';
import { markdown, markdownList, markdownTable } from '../../window/ui/markdown.ts';
import { sanitize } from '../../../base/sanitize.ts';
import {
  branchWarnings,
  keptFileText,
  knownBranchName,
  noBranchReason,
  otherGitBranchText,
  pauseText,
  notConnectedText,
  unusedBranchesText,
} from './workBranchText.ts';
import { isOfOtherGitBranch } from '../envFileDecision.ts';
import { window, type StatusBarText } from '../../window/ui/window.ts';
import type { ShownFolder, WorkFolders } from './workFolders.ts';

interface StatusItemDependencies {
  readonly agentBranches: AgentBranches;
  readonly session: Session;
  readonly workFolders: WorkFolders;
  readonly inventory: Inventory;
  readonly config: Config;
  readonly localService: { readonly runs: boolean };
}

/** The place of the item: next to VS Code's item for the git branch. */
const PRIORITY = 9_000;

/** The limits of the milliseconds until the next check for an expired branch. A timer can't be set for a month. */
const [MIN_DELAY, MAX_DELAY] = [1000, 60 * 60 * 1000];

export function showBranchItem(deps: StatusItemDependencies): Disposable {
  const { workFolders, agentBranches, session, inventory } = deps;
  const disposables = new DisposableStore();
  const command = 'hostedPostgres.workBranch.show';
  const name = l10n.t('Database Branch');
  const item = disposables.add(
    window.createStatusBarItem('hostedPostgres.workBranch', name, PRIORITY, command),
  );
  let timer: Disposable | undefined;
  let read: WorkFolderState | undefined;
  let usage: BranchUsage | undefined;
  const readUsage = async ({ folder, work: { state } }: ShownFolder) => {
    if (state === read) return;
    read = state;
    const found = await usageOfBranches(folder, state).catch(() => undefined);
    if (state !== read) return;
    usage = found;
    update();
  };
  let updates = 0;
  /**
   * Updates the item if there is no database branch. For such users, only whether a folder has a repository is checked, and git
   * isn't read.
   */
  const updateWithoutBranch = async () => {
    const update = updates;
    const folder = await folderWithoutBranch(session);
    if (update !== updates) return;
    if (folder === undefined) item.hide();
    else item.show(noBranchText(deps.config.envFileSettings(folder.uri).file));
  };
  const update = () => {
    updates++;
    timer?.dispose();
    const { shown } = workFolders;
    setFollowsGit(shown?.work.state.map.isFollowed === true);
    const agents = agentBranches.ofAccount(session.connection);
    if (shown !== undefined) {
      void readUsage(shown);
      item.show(branchText(deps, shown, { agents, unusedCount: countUnused(deps, usage) }));
    } else if (agents.length > 0) {
      const firstEnd = Math.min(...agents.map(({ expiresAt }) => Date.parse(expiresAt)));
      const delay = Math.max(MIN_DELAY, Math.min(firstEnd - Date.now(), MAX_DELAY));
      timer = systemClock.after(delay, update);
      item.show(agentsText(agents));
    } else if (session.connection === undefined || workspace.workspaceFolders === undefined) item.hide();
    else void updateWithoutBranch().catch(() => item.hide());
  };
  disposables.add(workFolders.onDidChange(update));
  disposables.add(agentBranches.onDidChange(update));
  // The tooltip has the state of the branch's compute, and the number of unused branches that still exist.
  disposables.add(
    inventory.onDidChange((changes) => {
      const { current, map } = workFolders.shown?.work.state ?? {};
      const changed = changedProjects(changes);
      if ([current, ...(map?.created ?? [])].some((ref) => changed.has(ref?.projectId ?? ''))) update();
    }),
  );
  disposables.add({ dispose: () => timer?.dispose() });
  update();
  return disposables;
}

function countUnused({ session, inventory }: StatusItemDependencies, usage: BranchUsage | undefined): number {
  const isGone = ({ account, projectId, branchId }: BranchRef) =>
    account === session.connection?.accountId &&
    inventory.branches.forProject(projectId)?.isListed(branchId) === false;
  return usage === undefined ? 0 : countUnusedBranches(usage, isGone);
}

/** Runs git only if a branch was created. */
async function usageOfBranches(
  { uri }: WorkspaceFolder,
  { map, current }: WorkFolderState,
): Promise<BranchUsage | undefined> {
  if (map.created.length === 0) return undefined;
  const gitBranches = await readGitBranches(runGit, uri.fsPath);
  return { map, gitBranches, inFiles: current === undefined ? [] : [current] };
}

/** Returns the first folder in a Git repository. */
async function folderWithoutBranch({ connection }: Session): Promise<WorkspaceFolder | undefined> {
  if (connection === undefined || !workspace.isTrusted) return undefined;
  for (const folder of workspace.workspaceFolders ?? [])
    if (folder.uri.scheme === 'file' && (await findRepository(folder.uri.fsPath)) !== undefined)
      return folder;
  return undefined;
}

function noBranchText(file: string): StatusBarText {
  const label = l10n.t('No database branch');
  const lines = [noBranchReason(file), l10n.t('Click to create or choose a branch.')];
  return { icon: 'database', text: label, spoken: { label }, tooltip: markdownList(lines) };
}

/** Returns the item's text if no env file points to a branch. The item's menu is still needed for the branches of agents. */
function agentsText(agents: readonly AgentBranch[]): StatusBarText {
  const label = l10n.t('Agent branches: {0}', agents.length);
  const lines = agents.map((each) => `${agentBranchName(each)} ${agentBranchText(each)}`);
  return { icon: 'database', text: label, spoken: { label }, tooltip: markdownList(lines) };
}

function branchText(
  deps: StatusItemDependencies,
  { folder, work: { state } }: ShownFolder,
  { agents, unusedCount }: { readonly agents: readonly AgentBranch[]; readonly unusedCount: number },
): StatusBarText {
  const { current, decision, git, map, host, sharedWith, unreadOther } = state;
  const { marks } = deps.config;
  const name = current === undefined ? l10n.t('unknown database') : knownBranchName(current);
  const warnings =
    current === undefined
      ? []
      : branchWarnings(current, {
          mark: marks[current.projectId] ?? marks[current.account],
          isExpired: isKnownExpired(current),
          sharedWith: sharedWith && path.basename(sharedWith),
        });
  const isDisconnected = current !== undefined && isNotConnected(current, deps);
  const reason = keptFileText(decision, sanitize(git.branch ?? ''));
  const { file, variable } = deps.config.envFileSettings(folder.uri);
  const other = unreadOther && path.join(path.basename(unreadOther.folder), file);
  const notes = [
    ...(isDisconnected ? [notConnectedText()] : []),
    ...warnings,
    ...(reason === undefined ? [] : [reason]),
    ...(isOfOtherGitBranch(state) ? [otherGitBranchText(sanitize(git.branch ?? ''), file, name)] : []),
    ...(unreadOther === undefined ? [] : [fileProblemText(unreadOther.problem, sanitize(other ?? file))]),
  ];
  const isWarning = warnings.length > 0 || decision.kind === 'stopped';
  const computes = current && deps.inventory.computesOf(current.projectId)?.branches();
  const compute = current && computes?.get(current.branchId)?.find(isPrimary);
  const label = l10n.t('Database branch {0}', name);
  const table = markdownTable(name, [
    [l10n.t('Project'), current?.projectName],
    [l10n.t('Id'), current?.branchId],
    [l10n.t('Compute'), compute && `${computeLabel(compute)} (${statusText(compute)})`],
    [l10n.t('Host'), host],
    [l10n.t('Expires'), current?.expiresAt && formatDate(current.expiresAt)],
    [l10n.t('File'), `${folder.name}/${file} (${variable})`],
    [l10n.t('Git branch'), git.branch],
    [l10n.t('Follows the Git branch'), map.isFollowed ? l10n.t('yes') : undefined],
    [l10n.t('Agent branches'), agents.map(agentBranchName).join(', ')],
  ]);
  return {
    // High-contrast themes have no color for warnings.
    icon: isWarning ? 'warning' : 'database',
    text: isDisconnected ? l10n.t('{0} (not connected)', name) : labelWithState(name, state),
    spoken: { label: notes.length === 0 ? label : `${label}. ${notes.join(' ')}` },
    tooltip: markdown`${table}\n\n${markdownList([...notes, ...unusedBranchesText(unusedCount)])}`,
    isWarning,
  };
}

/** Returns the label, which shows if the file doesn't match the checked-out branch. */
function labelWithState(name: string, { decision }: WorkFolderState): string {
  if (decision.kind === 'paused') return l10n.t('{0} (paused: {1})', name, pauseText(decision.reason));
  if (decision.kind === 'keep' && decision.reason === 'byNeon') return name;
  const isOther = decision.kind === 'ask' || decision.kind === 'stopped' || decision.kind === 'keep';
  return isOther ? l10n.t('{0} (not switched)', name) : name;
}
