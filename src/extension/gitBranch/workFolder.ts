/**
 * A workspace folder: its checked-out git branch, and the database branch that its env file points to. Follows checkouts if
 * the repository's map says so.
 */
import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { RunGit } from '../../base/git/runGit.ts';
import { EMPTY_MAP, gitBranchNameInMap, readBranchMapOrKeep } from './branchMap.ts';
import { parseDatabaseUrl } from '../../api/addresses/databaseUrl.ts';
import { decideEnvFileChange, reasonToAsk } from './envFileDecision.ts';
import type { AskReason, EnvFileDecision, EnvFileFacts, StopReason } from './envFileDecision.ts';
import type { EnvChange, EnvValue, EnvVariable } from '../envFile/envVariable.ts';
import { findBranchUrl, type FoundBranchUrl, type BranchUrlDependencies } from './findBranchUrl.ts';
import { readIgnoreState } from '../envFile/gitIgnored.ts';
import { isDefaultBranch, readGitState, stateFiles } from './gitState.ts';
import { findRepository, type Repository } from '../../base/git/repository.ts';
import { knownBranchProblem, type KnownBranch } from './knownHosts.ts';
import { isFollowedByNeon, NEON_FILE, updateNeonFile } from './neonFile.ts';
import { findRelatedVariables } from './relatedVariables.ts';
import { branchesInOtherWorktrees, type UnreadFolder } from './worktrees.ts';
import { watchFiles, type WatchedFiles } from './watchFiles.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';

interface WorkFolderNotices {
  /** Asks for the database branch of a git branch, if the window has the focus. Doesn't wait for the answer. */
  ask(work: WorkFolder, gitBranch: string, reason: AskReason): boolean;
  showSwitch(work: WorkFolder, target: BranchRef, change: EnvChange): void;
}

export interface WorkFolderDependencies extends BranchUrlDependencies {
  readonly runGit: RunGit;
  readonly clock: Clock;
  readonly notices: WorkFolderNotices;
  readonly log: { error(activity: string, error: unknown): void };
}

export interface WorkFolderState extends EnvFileFacts {
  readonly repository: Repository | undefined;
  /** The host of the env file; undefined if its value isn't a connection string. */
  readonly host: string | undefined;
  /** The branch behind the host, if it is known. */
  readonly current: KnownBranch | undefined;
  /** The folder in another worktree whose file points to the same branch, if that isn't mapped to this git branch. */
  readonly sharedWith: string | undefined;
  /** A folder in another worktree whose file can't be used. */
  readonly unreadOther: UnreadFolder | undefined;
  readonly decision: EnvFileDecision;
}

/** The state of a folder without a repository, and of every folder until it is first read. */
const INITIAL_STATE: WorkFolderState = {
  repository: undefined,
  git: { branch: undefined, pause: undefined },
  map: EMPTY_MAP,
  gitProblem: undefined,
  isFollowedByNeon: false,
  isDefaultBranch: false,
  file: 'none',
  host: undefined,
  current: undefined,
  sharedWith: undefined,
  unreadOther: undefined,
  lacksOwn: undefined,
  isUndone: false,
  account: undefined,
  problem: undefined,
  decision: { kind: 'nothing' },
};

/** What was read from git and the env file. */
type FolderFacts = Omit<WorkFolderState, 'decision'>;

/** A branch to switch to, looked up while the env file had this value. */
interface Lookup {
  readonly target: BranchRef;
  readonly before: string;
  readonly found: FoundBranchUrl;
}

/** Milliseconds without another change until git is read. A rebase or two quick checkouts change HEAD several times. */
const SETTLE = 150;

const RETRIED: readonly StopReason[] = ['offline', 'tooSlow'];

/** Milliseconds until a service or file that couldn't be reached is tried again. */
const RETRY = 10_000;

export class WorkFolder implements Disposable {
  readonly folder: string;
  readonly env: EnvVariable;
  readonly #deps: WorkFolderDependencies;
  readonly #changed = new Emitter<void>();
  readonly #log = (error: unknown): void => this.#deps.log.error('Following the Git branch', error);
  #state = INITIAL_STATE;
  #running: Promise<void> | undefined;
  #runAgain = false;
  #timer: Disposable | undefined;
  #retryTimer: Disposable | undefined;
  #watched: WatchedFiles = [];
  #watcher: Disposable | undefined;
  #isDisposed = false;
  /** The git branches that the user was asked about. */
  readonly #asked = new Set<string>();
  #undone: string | undefined;
  #isActive = false;

  readonly onDidChange = this.#changed.event;

  constructor(folder: string, env: EnvVariable, deps: WorkFolderDependencies) {
    this.folder = folder;
    this.env = env;
    this.#deps = deps;
  }

  get state(): WorkFolderState {
    return this.#state;
  }

  /** Reads git's state and the env file, and updates the file if necessary. Never rejects. */
  refresh(): Promise<void> {
    this.#runAgain = true;
    return (this.#running ??= this.#refreshWhileRequested());
  }

  /** Call it when the user runs a command for the folder. From then on, git is read even if no host is known. */
  async activate(): Promise<void> {
    this.#isActive = true;
    await this.refresh();
  }

  /** Keeps the file as it is until another git branch is checked out. */
  setUndone(gitBranch: string | undefined): void {
    this.#undone = gitBranch;
  }

  /** Updates `.neon`, so that the public command line uses the same branch as the env file. Never rejects. */
  async updateNeonFile(ref: BranchRef | undefined = this.#state.current): Promise<void> {
    const { repository } = this.#state;
    const knownBranch = ref && this.#deps.knownHosts.find(ref);
    if (repository === undefined || knownBranch === undefined) return;
    const { projectId, branchName: branch } = knownBranch;
    const change = { projectId, branch, isCheckedOut: true };
    await updateNeonFile(this.folder, repository.worktree, change).catch(this.#log);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#retryTimer?.dispose();
    this.#watcher?.dispose();
    this.#changed.dispose();
  }

  async #refreshWhileRequested(): Promise<void> {
    while (this.#runAgain && !this.#isDisposed) {
      this.#runAgain = false;
      try {
        await this.#refreshOnce();
      } catch (error) {
        this.#log(error);
      }
    }
    // This is reset in the same tick, so that a later refresh starts a new run.
    this.#running = undefined;
  }

  /** @param lookup made by the previous call, and ignored if the value or the target has changed since */
  async #refreshOnce(lookup?: Lookup): Promise<void> {
    this.#retryTimer?.dispose();
    const { value, path, text, ...state } = await this.#read();
    if (this.#isDisposed) return;
    this.#watch(path, state);
    let decision = decideEnvFileChange(state);
    if (decision.kind === 'switch' && value !== undefined) {
      const { target } = decision;
      this.#update(state);
      // The look-up takes time, so everything is read again before the file is changed.
      if (lookup?.before !== value || !isSameBranch(lookup.target, target))
        return await this.#refreshOnce({
          target,
          before: value,
          found: await findBranchUrl(this.#deps, target, { name: this.env.name, value }),
        });
      const after = lookup.found.value;
      if (after !== undefined) return await this.#switchEnvFile(target, text, value, after);
      decision = { kind: 'stopped', reason: lookup.found.problem };
    }
    this.#update({ ...state, decision });
    // Without a connection there is no retry: connecting causes a refresh.
    const mayEnd = decision.kind === 'stopped' && RETRIED.includes(decision.reason);
    if (mayEnd && state.account !== undefined)
      this.#retryTimer = this.#deps.clock.after(RETRY, () => void this.refresh());
    const question = reasonToAsk(decision, state);
    const gitBranch = state.git.branch ?? '';
    if (
      question !== undefined &&
      !this.#asked.has(gitBranch) &&
      this.#deps.notices.ask(this, gitBranch, question)
    )
      this.#asked.add(gitBranch);
  }

  async #switchEnvFile(target: BranchRef, text: string, before: string, after: string): Promise<void> {
    const { name, file } = this.env;
    try {
      const { changes, left } = await findRelatedVariables(this.#deps, text, name, target);
      if (left.length > 0) throw new Error(`${left.join(', ')} in ${file} can't follow.`);
      const change = await this.env.replace([{ name, before, after }, ...changes]);
      // This is set only after a success: otherwise a failure would be repeated at once.
      this.#runAgain = true;
      if (change === undefined) return;
      this.#deps.notices.showSwitch(this, target, change);
      await this.updateNeonFile(target);
    } catch (error) {
      this.#update({ decision: { kind: 'stopped', reason: 'notWritten' } });
      throw error;
    }
  }

  /** Reads the env file, and what git and the branch map say. An undo counts only until another git branch is checked out. */
  async #read(): Promise<FolderFacts & Omit<EnvValue, 'file'>> {
    const { runGit, knownHosts, session } = this.#deps;
    if (!this.env.isTrusted) return { ...INITIAL_STATE, value: undefined, path: '', text: '' };
    const { file, ...found } = await this.env.read();
    const { value, path } = found;
    const host = parseDatabaseUrl(value ?? '')?.host;
    const current = knownHosts.get(host ?? '');
    const readsGit = this.#isActive || !knownHosts.isEmpty;
    const repository = readsGit ? await findRepository(this.folder) : undefined;
    if (repository === undefined) return { ...INITIAL_STATE, host, current, ...found };
    const [{ pause, branch: checkedOut }, { map, gitProblem }, others] = await Promise.all([
      readGitState(repository, runGit),
      readBranchMapOrKeep(runGit, this.folder, this.#state.map),
      branchesInOtherWorktrees(this.folder, repository, knownHosts, this.env),
    ]);
    const branch = checkedOut && gitBranchNameInMap(map, checkedOut);
    if (branch !== this.#undone) this.#undone = undefined;
    const mapped = branch === undefined ? undefined : map.branches.get(branch);
    const target = mapped === 'none' ? undefined : mapped;
    const isRight = isSameBranch(target, current);
    const isSwitch = file === 'writable' && target !== undefined && !isRight;
    const sharedWith = isRight
      ? undefined
      : others.branches.find(([, other]) => isSameBranch(other, current))?.[0];
    // For a submodule, both are the same, because it is a separate repository.
    const isLinked = repository.gitDir !== repository.commonDir;
    const lacksOwn = file === 'none' ? 'missing' : sharedWith === undefined ? undefined : 'shared';
    return {
      repository,
      git: { branch, pause },
      map,
      gitProblem,
      isFollowedByNeon: await isFollowedByNeon(repository.worktree),
      isDefaultBranch:
        branch !== undefined &&
        mapped === undefined &&
        (await isDefaultBranch(repository, branch, map, runGit)),
      file: isSwitch && (await readIgnoreState(runGit, path)) === 'tracked' ? 'tracked' : file,
      ...found,
      host,
      current,
      sharedWith,
      unreadOther: others.unread[0],
      lacksOwn: isLinked && others.branches.length > 0 ? lacksOwn : undefined,
      isUndone: this.#undone !== undefined,
      account: session.connection?.accountId,
      problem: knownBranchProblem(target && knownHosts.find(target)),
    };
  }

  #update(change: Partial<WorkFolderState>): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    if (!isDeepStrictEqual(before, this.#state)) this.#changed.fire();
  }

  /** Watches files only while there is something to show or follow. */
  #watch(envPath: string, { repository, map, current }: FolderFacts): void {
    const inRepository: WatchedFiles =
      repository === undefined
        ? []
        : [...stateFiles(repository), [repository.worktree, [NEON_FILE]], [repository.commonDir, ['config']]];
    const isUsed = map.isFollowed || current !== undefined;
    const files: WatchedFiles = isUsed ? [[dirname(envPath), [basename(envPath)]], ...inRepository] : [];
    if (isDeepStrictEqual(files, this.#watched)) return;
    this.#watched = files;
    this.#watcher?.dispose();
    this.#watcher = watchFiles(files, () => this.#schedule());
    // Run once more: a change made before the watcher was in place would go unnoticed.
    if (files.length > 0) this.#runAgain = true;
  }

  #schedule(): void {
    this.#timer?.dispose();
    this.#timer = this.#deps.clock.after(SETTLE, () => void this.refresh());
  }
}
