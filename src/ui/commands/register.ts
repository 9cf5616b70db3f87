/** Registers the commands of package.json and links to the extension. The code of the commands is loaded on first use. */
import { commands, window } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { CommandContext } from './context.ts';

export function registerCommands(
  declared: Iterable<{ readonly command: string }>,
  loadContext: () => Promise<CommandContext>,
): Disposable {
  const disposables = new DisposableStore();
  for (const { command } of declared) {
    const run = async (argument: unknown) => {
      const context = await loadContext();
      return await (await import('./commands.ts')).runCommand(context, command, argument);
    };
    disposables.add(commands.registerCommand(command, run));
  }
  // `vscode://hosted-postgres.hosted-postgres/…`: the command validates the link.
  const handleUri = (uri: { toString(skipEncoding: boolean): string }) =>
    void commands.executeCommand('hostedPostgres.compute.openLink', uri.toString(true));
  disposables.add(window.registerUriHandler({ handleUri }));
  return disposables;
}
