/** The questions and messages of env files that follow the git branch. */
import { commands, debug, l10n, tasks, window as vscodeWindow, type WorkspaceFolder } from 'vscode';
import { systemClock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { BranchMapWriter, type BranchRef } from '../../model/workBranch/branchMap.ts';
import type { AskReason } from '../../model/workBranch/decide.ts';
import type { WorkFolder } from '../../model/workBranch/workFolder.ts';
import { undoChanges, type FileChange } from '../envFile/fileChange.ts';
import { runGit } from '../envFile/git.ts';
import type { Log } from '../log/log.ts';
import { announce } from '../notifications/announce.ts';
import { showFailure } from '../notifications/notify.ts';
import { sanitize } from '../../base/sanitize.ts';
import { questionText } from '../text/workBranchText.ts';
import { window } from '../window.ts';

export interface FollowedFolder {
  readonly folder: WorkspaceFolder;
  readonly work: WorkFolder;
  readonly log: Pick<Log, 'error'>;
}

/** A branch with its name. */
interface NamedBranch {
  readonly ref: BranchRef;
  readonly name: string;
}

/** Asks for the database branch of a git branch. @param parent undefined if it must not be offered */
export async function askForBranch(
  followed: FollowedFolder,
  { gitBranch, reason }: { readonly gitBranch: string; readonly reason: AskReason },
  parent: NamedBranch | undefined,
): Promise<void> {
  const { folder, work } = followed;
  const create = l10n.t('Create Branch');
  const use = parent && l10n.t('Use {0}', sanitize(parent.name));
  const none = l10n.t('Not for This One');
  const question = questionText(reason, sanitize(gitBranch));
  const buttons = [create, ...(use === undefined ? [] : [use]), none];
  const chosen = await window.showInformationMessage(question, ...buttons);
  if (chosen === undefined) return;
  const argument = { folder: folder.uri.fsPath, gitBranch };
  if (chosen === create) await commands.executeCommand('hostedPostgres.workBranch.create', argument);
  else if (chosen === use)
    await commands.executeCommand('hostedPostgres.workBranch.choose', {
      ...argument,
      ...parent?.ref,
      kind: 'branch',
    });
  else
    await tryAgain(followed, l10n.t("Couldn't choose the database branch"), async () => {
      await new BranchMapWriter(runGit, folder.uri.fsPath).setBranch(gitBranch, 'none');
      await work.refresh();
    });
}

/** Milliseconds. Announcements take turns, so only the last of several quick switches is announced. */
const SETTLE = 1000;

/** Announces that the file was changed. Only the first message has buttons, because later ones would be in the way. */
export class SwitchNotices {
  #last:
    | { readonly followed: FollowedFolder; readonly gitBranch: string; readonly change: FileChange }
    | undefined;
  #timer: Disposable | undefined;
  #hasOfferedUndo = false;
  #hasWarned = false;

  /** @param name of the database branch */
  show(followed: FollowedFolder, gitBranch: string, change: FileChange, message: string): void {
    this.#last = { followed, gitBranch, change };
    const isRunning = vscodeWindow.terminals.length > 0 || debug.activeDebugSession !== undefined;
    const warns = isRunning && !this.#hasWarned;
    this.#timer?.dispose();
    if (this.#hasOfferedUndo && !warns) {
      this.#timer = systemClock.after(SETTLE, () => announce(message, 'database'));
      return;
    }
    this.#hasOfferedUndo = true;
    this.#hasWarned ||= warns;
    void this.#showButtons(message, warns);
  }

  /** Whether the last switch of the folder can be undone. */
  canUndo(work: WorkFolder): boolean {
    return this.#last?.followed.work === work && work.state.git?.branch === this.#last.gitBranch;
  }

  async undo(): Promise<void> {
    const last = this.#last;
    if (last === undefined) return;
    await tryAgain(last.followed, l10n.t("Couldn't undo the change"), async () => {
      // Before the file changes, which would otherwise cause another switch.
      last.followed.work.setUndone(last.gitBranch);
      await undoChanges([last.change]);
      this.#last = undefined;
      await last.followed.work.refresh();
      await last.followed.work.updateNeonFile();
    });
  }

  async #showButtons(message: string, warns: boolean): Promise<void> {
    const undo = l10n.t('Undo');
    const restart = l10n.t('Restart');
    const canRestart = warns && (debug.activeDebugSession !== undefined || tasks.taskExecutions.length > 0);
    const text = warns
      ? l10n.t('{0}. Running terminals and debug sessions keep the old connection string.', message)
      : message;
    const chosen = await window.showInformationMessage(text, ...(canRestart ? [restart] : []), undo);
    if (chosen === undo) await this.undo();
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

async function tryAgain(
  followed: Pick<FollowedFolder, 'log'>,
  title: string,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    followed.log.error(title, error);
    await showFailure(title, error, () => void tryAgain(followed, title, act));
  }
}
