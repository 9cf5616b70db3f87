/** The questions and messages of env files that follow the git branch. */
import { commands, debug, l10n, tasks, window as vscodeWindow } from 'vscode';
import { systemClock, type Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { branchMapWriter } from '../branchMap.ts';
import type { AskReason } from '../envFileDecision.ts';
import type { WorkFolder } from '../workFolder.ts';
import type { EnvChange } from '../../envFile/envVariable.ts';
import type { KnownHosts } from '../knownHosts.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { Config } from '../../window/ui/config.ts';
import { runGit } from '../../window/ui/git.ts';
import type { Log } from '../../window/ui/log.ts';
import { announce } from '../../window/ui/announce.ts';
import { runOrShowFailure } from '../../account/ui/notify.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { knownBranchText, missingBranchText } from './workBranchText.ts';
import { window } from '../../window/ui/window.ts';
import { executeCommand } from '../../window/ui/executeCommand.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';
import type { BranchRef } from '../../account/refs.ts';
import type { Session } from '../../account/session.ts';

interface NoticesDependencies {
  readonly session: Pick<Session, 'connection'>;
  readonly inventory: Inventory;
  readonly knownHosts: KnownHosts;
  readonly config: Pick<Config, 'marks'>;
  readonly log: Pick<Log, 'error'>;
}

/** Milliseconds until a switch is announced. Announcements take turns, so only the last of several quick switches is announced. */
const ANNOUNCEMENT_DELAY = 1000;

interface Switch {
  readonly work: WorkFolder;
  readonly gitBranch: string | undefined;
  readonly change: EnvChange;
}

/** Asks about branches, announces switches and offers to undo them. */
export class FollowNotices {
  readonly #deps: NoticesDependencies;
  readonly #clock: Clock;
  #last: Switch | undefined;
  #timer: Disposable | undefined;
  #hasOfferedUndo = false;
  #hasWarned = false;

  constructor(deps: NoticesDependencies, clock: Clock = systemClock) {
    this.#deps = deps;
    this.#clock = clock;
  }

  /** Asks for the database branch of a git branch, if the window has the focus. @returns whether the window has the focus */
  ask(work: WorkFolder, gitBranch: string, reason: AskReason): boolean {
    const isFocused = vscodeWindow.state.focused;
    if (isFocused) void this.#ask(work, gitBranch, reason);
    return isFocused;
  }

  /** Announces that the file was changed. Only the first message has buttons, because later ones would be in the way. */
  showSwitch(work: WorkFolder, target: BranchRef, change: EnvChange): void {
    const known = this.#deps.knownHosts.find(target);
    const branch = known === undefined ? target.branchId : knownBranchText(known);
    const message = l10n.t('{0} points to {1}', work.env.file, branch);
    const made = { work, gitBranch: work.state.git.branch, change };
    this.#last = made;
    const isRunning = vscodeWindow.terminals.length > 0 || debug.activeDebugSession !== undefined;
    const warns = isRunning && !this.#hasWarned;
    this.#timer?.dispose();
    if (this.#hasOfferedUndo && !warns) {
      this.#timer = this.#clock.after(ANNOUNCEMENT_DELAY, () => announce(message, 'database', this.#clock));
      return;
    }
    this.#hasOfferedUndo = true;
    this.#hasWarned ||= warns;
    void this.#offerUndo(made, message, warns);
  }

  /** Whether the last switch of the folder can be undone. */
  canUndo(work: WorkFolder): boolean {
    return this.#last?.work === work && work.state.git.branch === this.#last.gitBranch;
  }

  /** Undoes the last switch. */
  async undo(): Promise<void> {
    if (this.#last !== undefined) await this.#undo(this.#last);
  }

  async #ask(work: WorkFolder, gitBranch: string, reason: AskReason): Promise<void> {
    const parent = this.#chosenParent(work);
    const create = l10n.t('Create Branch');
    const use = parent && l10n.t('Use {0}', parent.name);
    const none = l10n.t('Not for This One');
    const question = missingBranchText(reason, sanitize(gitBranch));
    const buttons = [create, ...(use === undefined ? [] : [use]), none];
    const chosen = await window.showInformationMessage(question, ...buttons);
    const run = (command: CommandId, branch?: object) =>
      executeCommand(command, { folder: work.folder, gitBranch, ...branch });
    if (chosen === create) await run('hostedPostgres.workBranch.create');
    else if (use !== undefined && chosen === use)
      await run('hostedPostgres.workBranch.choose', { ...parent?.ref, kind: 'branch' });
    else if (chosen === none)
      await runOrShowFailure(this.#deps.log, l10n.t("Couldn't choose the database branch"), async () => {
        await branchMapWriter(runGit, work.folder).setBranch(gitBranch, 'none');
        await work.refresh();
      });
  }

  /** Returns the chosen parent, unless it is production: a click on the wrong button must not connect to production. */
  #chosenParent({
    state: { map },
  }: WorkFolder): { readonly ref: BranchRef; readonly name: string } | undefined {
    const { session, inventory, config } = this.#deps;
    const ref = map.parent;
    if (ref === undefined || ref.account !== session.connection?.accountId) return undefined;
    const branch = inventory.branches.get(ref.projectId, ref.branchId);
    if (branch === undefined || branch.protected === true) return undefined;
    const isProduction = [ref.projectId, ref.account].some((id) => config.marks[id] !== undefined);
    return isProduction ? undefined : { ref, name: resourceText(inventory, ref) };
  }

  async #undo(made: Switch): Promise<void> {
    const { work, gitBranch, change } = made;
    await runOrShowFailure(this.#deps.log, l10n.t("Couldn't undo the change"), async () => {
      // This comes before the file changes, which would otherwise cause another switch.
      work.setUndone(gitBranch);
      await change.undo();
      this.#last = undefined;
      await work.refresh();
      await work.updateNeonFile();
    });
  }

  async #offerUndo(made: Switch, message: string, warns: boolean): Promise<void> {
    const undo = l10n.t('Undo');
    const restart = l10n.t('Restart');
    const canRestart = warns && (debug.activeDebugSession !== undefined || tasks.taskExecutions.length > 0);
    const text = warns
      ? l10n.t('{0}. Running terminals and debug sessions keep the old connection string.', message)
      : message;
    const chosen = await window.showInformationMessage(text, ...(canRestart ? [restart] : []), undo);
    if (chosen === undo) await this.#undo(made);
    if (chosen === restart) await restartPrograms();
  }
}

/** Restarts what VS Code can restart: the debug session and tasks. */
async function restartPrograms(): Promise<void> {
  if (debug.activeDebugSession !== undefined) await commands.executeCommand('workbench.action.debug.restart');
  for (const execution of tasks.taskExecutions) {
    execution.terminate();
    await tasks.executeTask(execution.task);
  }
}
