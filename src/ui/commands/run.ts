/** Runs the commands of the table. The one place where a command's failure is caught. */
import { l10n } from 'vscode';
import { isCancelled } from '../../api/errors.ts';
import { showFailure } from '../notifications/notify.ts';
import type { CommandContext } from './context.ts';
import { COMMANDS, finishRotations } from './table.ts';

export class Commands {
  readonly #context: CommandContext;

  constructor(context: CommandContext) {
    this.#context = context;
  }

  /** Never rejects. @param given whatever VS Code or a caller gave */
  run(id: string, given: unknown): Promise<void> {
    return this.#run(id, this.#argument(given));
  }

  /** Finishes the key rotations that an earlier window has left. */
  async finishRotations(): Promise<void> {
    if (this.#context.rotations.accounts.length > 0) await finishRotations(this.#context);
  }

  async #run(id: string, argument: unknown): Promise<void> {
    const attempt = { couldNot: l10n.t('The command failed') };
    try {
      await COMMANDS[id]?.(this.#context, argument, attempt);
    } catch (error) {
      if (isCancelled(error)) return;
      this.#context.log.error(`${id} (${attempt.couldNot})`, error);
      // Not awaited: a command has ended when it has failed, not when its message is closed.
      void showFailure(attempt.couldNot, error, () => void this.#run(id, argument));
    }
  }

  /** A keybinding cannot hand over a row: it says in the manifest which view's selection is meant. */
  #argument(given: unknown): unknown {
    const { computesView, apiKeysView } = this.#context;
    if (given === 'selectedCompute') return computesView.view.selection[0];
    return given === 'selectedApiKey' ? apiKeysView.view.selection[0] : given;
  }
}
