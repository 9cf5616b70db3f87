/** The status bar item with the branch that the folder's env file points to. It needs no connection. */
import path from 'node:path';
import { l10n, type MarkdownString, type WorkspaceFolder } from 'vscode';
import { systemClock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { isPrimary, labelOf } from '../../model/inventory/computeStatus.ts';
import type { AgentBranch, AgentBranches } from '../../model/agents/agentBranches.ts';
import type { Session } from '../../model/account/session.ts';
import type { Inventory } from '../../model/inventory/inventory.ts';
import { isExpired } from '../../model/workBranch/knownHosts.ts';
import { readGitBranches } from '../../model/workBranch/gitState.ts';
import { countUnused } from '../../model/workBranch/unusedBranches.ts';
import type { WorkFolderState } from '../../model/workBranch/workFolder.ts';
import { runGit } from '../envFile/git.ts';
import type { Config } from '../state/config.ts';
import { setFollowsGit } from '../state/contextKey.ts';
import { agentBranchName, agentBranchText } from '../text/agentText.ts';
import { statusText } from '../text/computeText.ts';
import { formatDate } from '../text/timeText.ts';
import { markdown, markdownList, markdownTable } from '../text/markdown.ts';
import { sanitize } from '../../base/sanitize.ts';
import {
  branchWarnings,
  decisionText,
  knownBranchName,
  pauseText,
  unusedText,
} from '../text/workBranchText.ts';
import { window, type StatusBarItem } from '../window.ts';
import type { WorkFolders } from './workFolders.ts';

interface StatusItemDependencies {
  readonly agentBranches: AgentBranches;
  readonly session: Session;
  readonly workFolders: WorkFolders;
  readonly inventory: Inventory;
  readonly config: Config;
}

/** Next to VS Code's item for the git branch. */
const PRIORITY = 9_000;

/** Milliseconds until an expired branch is looked for. A timer can't be set for a month. */
const [MIN_DELAY, MAX_DELAY] = [1000, 60 * 60 * 1000];

export class WorkBranchItem implements Disposable {
  readonly #deps: StatusItemDependencies;
  readonly #disposables = new DisposableStore();
  #created: StatusBarItem | undefined;
  #timer: Disposable | undefined;
  /** What `#unusedCount` was computed for. */
  #countedState: WorkFolderState | undefined;
  #unusedCount = 0;

  constructor(deps: StatusItemDependencies) {
    this.#deps = deps;
    this.#disposables.add(deps.workFolders.onDidChange(() => this.#update()));
    this.#disposables.add(deps.agentBranches.onDidChange(() => this.#update()));
    this.#update();
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#disposables.dispose();
  }

  /** Created when there is a branch to show. */
  get #item(): StatusBarItem {
    if (this.#created !== undefined) return this.#created;
    const name = l10n.t('Database Branch');
    const command = 'hostedPostgres.workBranch.show';
    const item = window.createStatusBarItem('hostedPostgres.workBranch', name, PRIORITY, command);
    return (this.#created = this.#disposables.add(item));
  }

  #update(): void {
    this.#timer?.dispose();
    const { shown } = this.#deps.workFolders;
    setFollowsGit(shown?.work.state.map.isFollowed === true);
    if (shown === undefined) return this.#showAgents();
    const { folder, work } = shown;
    const { state } = work;
    if (state !== this.#countedState) void this.#countUnused(folder, state);
    const name = state.current === undefined ? l10n.t('unknown database') : knownBranchName(state.current);
    const warnings = this.#warnings(state);
    const reason = decisionText(state.decision, sanitize(state.git.branch ?? ''));
    const notes = [...warnings, ...(reason === undefined ? [] : [reason])];
    const isWarning = warnings.length > 0 || state.decision.kind === 'stopped';
    this.#item.show({
      // High-contrast themes have no color for warnings.
      icon: isWarning ? 'warning' : 'database',
      text: labelWithState(name, state),
      spoken: { label: [l10n.t('Database branch {0}', name), ...notes].join('. ') },
      tooltip: markdown`${this.#table(name, folder, state)}\n\n${markdownList([...notes, ...unusedText(this.#unusedCount)])}`,
      isWarning,
    });
  }

  /** Without a database branch in an env file, the menu is still needed for the branches of agents. */
  #showAgents(): void {
    const branches = this.#agentBranches;
    if (branches.length === 0) return this.#created?.hide();
    const firstEnd = Math.min(...branches.map(({ expiresAt }) => Date.parse(expiresAt)));
    const delay = Math.max(MIN_DELAY, Math.min(firstEnd - Date.now(), MAX_DELAY));
    this.#timer = systemClock.after(delay, () => this.#update());
    const label = l10n.t('Agent branches: {0}', branches.length);
    this.#item.show({
      icon: 'database',
      text: label,
      spoken: { label },
      tooltip: markdownList(branches.map((each) => `${agentBranchName(each)} ${agentBranchText(each)}`)),
    });
  }

  get #agentBranches(): readonly AgentBranch[] {
    return this.#deps.agentBranches.of(this.#deps.session.connection);
  }

  /** For the tooltip. Runs git only if a branch was created. */
  async #countUnused({ uri }: WorkspaceFolder, state: WorkFolderState): Promise<void> {
    this.#countedState = state;
    const { map, current } = state;
    const inFiles = current === undefined ? [] : [current];
    const count = async () =>
      countUnused({ map, inFiles, gitBranches: await readGitBranches(runGit, uri.fsPath) });
    const unused = map.created.length === 0 ? 0 : await count().catch(() => 0);
    if (state !== this.#countedState || unused === this.#unusedCount) return;
    this.#unusedCount = unused;
    this.#update();
  }

  #warnings({ current, sharedWith }: WorkFolderState): readonly string[] {
    if (current === undefined) return [];
    const { marks } = this.#deps.config;
    const mark = marks[current.projectId] ?? marks[current.account];
    return branchWarnings(current, {
      mark,
      isExpired: isExpired(current, systemClock.now()),
      sharedWith: sharedWith && path.basename(sharedWith),
    });
  }

  #table(
    name: string,
    folder: WorkspaceFolder,
    { current, host, git, map }: WorkFolderState,
  ): MarkdownString {
    const { file, variable } = this.#deps.config.env(folder.uri);
    const computes = current && this.#deps.inventory.computesOf(current.projectId)?.branches();
    const compute = current && computes?.get(current.branchId)?.find(isPrimary);
    return markdownTable(name, [
      [l10n.t('Project'), current?.projectName],
      [l10n.t('Id'), current?.branchId],
      [l10n.t('Compute'), compute && `${labelOf(compute)} (${statusText(compute)})`],
      [l10n.t('Host'), host],
      [l10n.t('Expires'), current?.expiresAt && formatDate(current.expiresAt)],
      [l10n.t('File'), `${folder.name}/${file} (${variable})`],
      [l10n.t('Git branch'), git.branch],
      [l10n.t('Follows the Git branch'), map.isFollowed ? l10n.t('yes') : undefined],
      [l10n.t('Agent branches'), this.#agentBranches.map(agentBranchName).join(', ')],
    ]);
  }
}

/** The label shows if the file doesn't match the checked-out branch. */
function labelWithState(name: string, { decision }: WorkFolderState): string {
  if (decision.kind === 'paused') return l10n.t('{0} (paused: {1})', name, pauseText(decision.reason));
  if (decision.kind === 'keep' && decision.reason === 'byNeon') return name;
  const isOther = decision.kind === 'ask' || decision.kind === 'stopped' || decision.kind === 'keep';
  return isOther ? l10n.t('{0} (not switched)', name) : name;
}
