/** Registers the table, and the links that lead to it, with VS Code. The one place where a command's failure is caught. */
import { commands, l10n } from 'vscode';
import { isCancelled } from '../../api/errors.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { showFailure } from '../notify.ts';
import type { Command, CommandContext } from './context.ts';
import { followLinks } from './links.ts';
import { COMMANDS } from './table.ts';

export function registerCommands(context: CommandContext): Disposable {
  const registered = new DisposableStore();
  for (const [id, command] of Object.entries(COMMANDS)) {
    registered.add(
      commands.registerCommand(id, (given: unknown) => run(context, id, command, argumentOf(context, given))),
    );
  }
  registered.add(followLinks());
  return registered;
}

/** A keybinding cannot hand over a row: it says in the manifest which view's selection is meant. */
function argumentOf({ computesView, apiKeysView }: CommandContext, given: unknown): unknown {
  if (given === 'selectedCompute') return computesView.view.selection[0];
  return given === 'selectedApiKey' ? apiKeysView.view.selection[0] : given;
}

async function run(context: CommandContext, id: string, command: Command, argument: unknown): Promise<void> {
  const attempt = { couldNot: l10n.t('The command failed') };
  try {
    await command(context, argument, attempt);
  } catch (error) {
    if (isCancelled(error)) return;
    context.log.error(`${id} (${attempt.couldNot})`, error);
    // Not awaited: a command has ended when it has failed, not when its message is closed.
    void showFailure(attempt.couldNot, error, () => void run(context, id, command, argument));
  }
}
