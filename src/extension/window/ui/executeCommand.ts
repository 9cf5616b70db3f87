import { commands, type Command } from 'vscode';
import type { CommandId } from '../../commandTable/commandTable.ts';

/** A command that VS Code makes from the id of a view. */
type FocusCommand = `hostedPostgres.${'apiKeys' | 'computes'}.focus`;

/** Runs a command of this extension. The command shows its errors itself (`commandHandlers.ts`). */
export const executeCommand = (
  id: CommandId | FocusCommand,
  ...args: readonly unknown[]
): Thenable<unknown> => commands.executeCommand(id, ...args);

/** The command that a click on a row or link runs. */
export interface OwnCommand extends Command {
  readonly command: CommandId;
}
