/**
 * A workspace folder: its checked-out git branch, and the database branch that its env file points to. Follows checkouts if
 * the repository's map says so.
 */
import { basename, dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { isEqual } from '../../base/equal.ts';
import { Emitter } from '../../base/event.ts';
import type { RunGit } from '../../base/runGit.ts';
import { EMPTY_MAP, isSameBranch, readBranchMap, type BranchMap, type BranchRef } from './branchMap.ts';
import { parseDatabaseUrl } from './databaseUrl.ts';
import { decide, questionOf, type AskReason, type Decision, type Facts, type TargetState } from './decide.ts';
import type { Target } from './findTarget.ts';
import { gitIgnored } from './gitIgnored.ts';
import {
  findRepository,
  isDefaultBranch,
  readGitState,
  STATE_FILES,
  type GitState,
  type Repository,
} from './gitState.ts';
import { isExpired, type KnownBranch, type KnownHosts } from './knownHosts.ts';
import { isFollowedByNeon, NEON_FILE, updateNeonFile } from './neonFile.ts';
import { branchesInOtherWorktrees, isLinked, type OtherFiles } from './worktrees.ts';
import { watchFiles, type WatchedFiles } from './watchFiles.ts';

/** The variable in the env file. */
export interface EnvValue {
  readonly file: Facts['file'];
  /** The path with links resolved. */
  readonly path: string;
  /** A secret. */
  readonly value: string | undefined;
}

export interface WorkFolderDependencies extends OtherFiles {
  readonly runGit: RunGit;
  readonly clock: Clock;
  readonly knownHosts: KnownHosts;
  readonly isTrusted: () => boolean;
  /** The id of the connected account. */
  readonly account: () => string | undefined;
  readonly readEnv: () => Promise<EnvValue>;
  /** Replaces the value unless it has changed since. @returns whether it was replaced */
  readonly replaceEnv: (before: string, after: string) => Promise<boolean>;
  /** The new value for the env file. Keeps the role, database and parameters of the old one. Never rejects. */
  readonly findTarget: (target: BranchRef, before: string) => Promise<Target>;
  /** Asks for the database branch of a git branch, if the window has the focus. Doesn't wait for the answer. */
  readonly ask: (gitBranch: string, reason: AskReason) => boolean;
  /** Called after the env file was pointed at another database branch. */
  readonly onSwitched: (gitBranch: string, target: BranchRef) => void;
  readonly onError: (error: unknown) => void;
}

export interface WorkFolderState {
  readonly repository: Repository | undefined;
  readonly git: GitState | undefined;
  readonly map: BranchMap;
  /** The host of the env file; undefined if its value isn't a connection string. */
  readonly host: string | undefined;
  /** The branch behind the host, if it is known. */
  readonly current: KnownBranch | undefined;
  /** The folder in another worktree whose file points to the same branch, if that isn't mapped to this git branch. */
  readonly sharedWith: string | undefined;
  readonly decision: Decision;
}

const NO_STATE: WorkFolderState = {
  repository: undefined,
  git: undefined,
  map: EMPTY_MAP,
  host: undefined,
  current: undefined,
  sharedWith: undefined,
  decision: { kind: 'nothing' },
};

/** Milliseconds. A rebase or two quick checkouts change HEAD several times; only the last state counts. */
const SETTLE = 150;

/** Milliseconds until a service that couldn't be reached is tried again. */
const RETRY = 10_000;

export class WorkFolder implements Disposable {
  readonly folder: string;
  readonly #deps: WorkFolderDependencies;
  readonly #changed = new Emitter<void>();
  #state = NO_STATE;
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

  constructor(folder: string, deps: WorkFolderDependencies) {
    this.folder = folder;
    this.#deps = deps;
  }

  get state(): WorkFolderState {
    return this.#state;
  }

  /** Reads git's state and the env file, and updates the file if necessary. Never rejects. */
  refresh(): Promise<void> {
    this.#runAgain = true;
    return (this.#running ??= this.#run());
  }

  /** Call it when the user runs a command for the folder. From then on, git is read even if no host is known. */
  async activate(): Promise<void> {
    this.#isActive = true;
    await this.refresh();
  }

  /** Keeps the file as it is until another git branch is checked out. */
  setUndone(gitBranch: string): void {
    this.#undone = gitBranch;
  }

  /** So that the public command line uses the same branch as the env file. Never rejects. */
  async updateNeonFile(ref: BranchRef | undefined = this.#state.current): Promise<void> {
    const { repository } = this.#state;
    const knownBranch = ref && this.#deps.knownHosts.find(ref);
    if (repository === undefined || knownBranch === undefined) return;
    const { projectId, branchName: branch } = knownBranch;
    const change = { projectId, branch, isCheckedOut: true };
    await updateNeonFile(this.folder, repository.worktree, change).catch(this.#deps.onError);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#retryTimer?.dispose();
    this.#watcher?.dispose();
    this.#changed.dispose();
  }

  async #run(): Promise<void> {
    while (this.#runAgain && !this.#isDisposed) {
      this.#runAgain = false;
      try {
        await this.#step();
      } catch (error) {
        this.#deps.onError(error);
      }
    }
    // Reset in the same tick, so that a later refresh starts a new run.
    this.#running = undefined;
  }

  async #step(): Promise<void> {
    this.#retryTimer?.dispose();
    const { facts, value } = await this.#read();
    let decision = facts === undefined ? NO_STATE.decision : decide(facts);
    if (decision.kind === 'check' && value !== undefined)
      decision = await this.#switch(decision.target, value);
    this.#update({ decision });
    // Without a connection there is no retry: connecting causes a refresh.
    if (decision.kind === 'stopped' && decision.reason === 'offline' && facts?.account !== undefined)
      this.#retryTimer = this.#deps.clock.after(RETRY, () => void this.refresh());
    const question = facts && questionOf(decision, facts);
    if (question === undefined) return;
    const { gitBranch, reason } = question;
    if (!this.#asked.has(gitBranch) && this.#deps.ask(gitBranch, reason)) this.#asked.add(gitBranch);
  }

  /** Finding the target takes time, so the facts are read again before the file is changed. */
  async #switch(target: BranchRef, oldValue: string): Promise<Decision> {
    const found = await this.#deps.findTarget(target, oldValue);
    const { facts, value: currentValue } = await this.#read();
    if (facts === undefined || this.#isDisposed) return NO_STATE.decision;
    const decision = decide({ ...facts, target: found.state });
    const isSame = currentValue === oldValue && 'target' in decision && isEqual(decision.target, target);
    if (!isSame) {
      this.#runAgain = true;
      return decision;
    }
    if (decision.kind !== 'write' || found.state !== 'live') return decision;
    const { branch: gitBranch = '' } = facts.git;
    if (await this.#deps.replaceEnv(oldValue, found.value)) {
      await this.updateNeonFile(target);
      this.#deps.onSwitched(gitBranch, target);
    }
    this.#runAgain = true;
    return { kind: 'nothing' };
  }

  /** @returns no facts if the folder isn't in a repository */
  async #read(): Promise<{ readonly facts?: Facts; readonly value: string | undefined }> {
    const { runGit, knownHosts, isTrusted, account } = this.#deps;
    const { value, file, path } = await this.#deps.readEnv();
    const host = value === undefined ? undefined : parseDatabaseUrl(value)?.host;
    const current = host === undefined ? undefined : knownHosts.get(host);
    const readsGit = this.#isActive || !knownHosts.isEmpty;
    const repository = readsGit ? await findRepository(this.folder) : undefined;
    if (repository === undefined) {
      this.#update({ ...NO_STATE, host, current }, path);
      return { value };
    }
    const [git, map] = await Promise.all([
      readGitState(repository, runGit),
      readBranchMap(runGit, this.folder),
    ]);
    const others = await branchesInOtherWorktrees(this.folder, repository, this.#deps);
    const target = git.branch === undefined ? undefined : map.branches.get(git.branch);
    const sharing = others.find(([, other]) => isSameBranch(other, current));
    const sharedWith = isSameBranch(current, target) ? undefined : sharing?.[0];
    this.#update({ repository, git, map, host, current, sharedWith }, path);
    if (git.branch !== this.#undone) this.#undone = undefined;
    const isUnmapped = target === undefined && git.branch !== undefined;
    const isSwitch =
      file === 'writable' && target !== undefined && target !== 'none' && !isSameBranch(target, current);
    const facts: Facts = {
      isTrusted: isTrusted(),
      git,
      isFollowedByNeon: await isFollowedByNeon(repository.worktree),
      map,
      isDefaultBranch: isUnmapped && (await isDefaultBranch(repository, git.branch, runGit)),
      file: isSwitch && (await gitIgnored(runGit, path)) === 'tracked' ? 'tracked' : file,
      current,
      isUndone: this.#undone !== undefined,
      account: account(),
      worktree: isLinked(repository)
        ? { isUsedElsewhere: others.length > 0, isShared: sharedWith !== undefined }
        : undefined,
      target: target === undefined || target === 'none' ? 'unchecked' : this.#knownState(target),
    };
    return { facts, value };
  }

  /** The state of the target, as far as it is known without a request. */
  #knownState(target: BranchRef): TargetState {
    const knownBranch = this.#deps.knownHosts.find(target);
    if (knownBranch?.isDeleted === true) return 'deleted';
    return isExpired(knownBranch, this.#deps.clock.now()) ? 'expired' : 'unchecked';
  }

  #update(change: Partial<WorkFolderState>, envPath?: string): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    if (envPath !== undefined) this.#watch(envPath);
    if (!isEqual(plain(before), plain(this.#state))) this.#changed.fire();
  }

  /** Watches files only while there is something to show or follow. */
  #watch(envPath: string): void {
    const { repository, map, current } = this.#state;
    const inRepository: WatchedFiles =
      repository === undefined
        ? []
        : [
            [repository.gitDir, STATE_FILES],
            [repository.worktree, [NEON_FILE]],
            [repository.commonDir, ['config']],
          ];
    const isUsed = map.isFollowed || current !== undefined;
    const files: WatchedFiles = isUsed ? [[dirname(envPath), [basename(envPath)]], ...inRepository] : [];
    if (isEqual(files, this.#watched) || this.#isDisposed) return;
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

/** For comparison with `isEqual`, which doesn't support Maps. */
const plain = (state: WorkFolderState) => ({
  ...state,
  map: { ...state.map, branches: [...state.map.branches] },
});
