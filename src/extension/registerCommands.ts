/** Registers the commands of package.json. The code of the commands is loaded on first use. */
import { commands } from 'vscode';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { CommandContext } from './commandSupport/context.ts';
import type { CommandId } from './commandTable/commandTable.ts';

export function registerCommands(
  declared: Iterable<{ readonly command: CommandId }>,
  loadContext: () => Promise<CommandContext>,
): Disposable {
  const disposables = new DisposableStore();
  for (const { command } of declared) {
    const run = async (argument: unknown) => {
      const context = await loadContext();
      return await (await import('./commandHandlers.ts')).handleCommand(context, command, argument);
    };
    disposables.add(commands.registerCommand(command, run));
  }
  return disposables;
}
