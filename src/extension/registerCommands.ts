/** Registers the commands of package.json. The code of the commands is loaded on first use. */
import { commands } from 'vscode';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { CommandContext } from './commandSupport/context.ts';
import type { CommandId } from './commandTable/commandTable.ts';

/** What package.json contributes of commands. */
export interface ContributedCommands {
  readonly commands: readonly { readonly command: CommandId }[];
  readonly menus: { readonly 'view/title': readonly { readonly command?: string }[] };
}

export function registerCommands(
  contributed: ContributedCommands,
  loadContext: () => Promise<CommandContext>,
): Disposable {
  const disposables = new DisposableStore();
  for (const { command } of contributed.commands) {
    const run = async (...passed: readonly unknown[]) => {
      const context = await loadContext();
      const { handleCommand, showLostRow } = await import('./commandHandlers.ts');
      return isRowLost(contributed, command, passed)
        ? showLostRow()
        : await handleCommand(context, command, passed[0]);
    };
    disposables.add(commands.registerCommand(command, run));
  }
  return disposables;
}

/**
 * Whether a row was clicked that VS Code is drawing again, and doesn't find. It passes two arguments for a row: the clicked one, and
 * those that are selected. For a button in the title of a view, it passes the row with the focus, if there is one (VS Code 1.139).
 */
function isRowLost({ menus }: ContributedCommands, command: CommandId, passed: readonly unknown[]): boolean {
  const isMissing = passed.length > 1 && passed.every((each) => each === undefined);
  return isMissing && !menus['view/title'].some((item) => item.command === command);
}
