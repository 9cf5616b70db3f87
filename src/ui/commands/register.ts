/** Registers the commands of the manifest, and the links that lead to them. What they do is in `table.ts`. */
import { commands } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { followLinks } from './links.ts';
import type { Commands } from './run.ts';

export function registerCommands(
  declared: Iterable<{ readonly command: string }>,
  load: () => Promise<Commands>,
): Disposable {
  const registered = new DisposableStore();
  for (const { command } of declared) {
    const run = async (given: unknown) => (await load()).run(command, given);
    registered.add(commands.registerCommand(command, run));
  }
  registered.add(followLinks());
  return registered;
}
