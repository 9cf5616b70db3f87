/** Follows the terminal of a psql: whether it is closed, and whether its compute still exists. */
import { window, type Terminal } from 'vscode';
import type { ComputeIds } from '../../account/refs.ts';
import type { Session } from '../../account/session.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { askForUnlisted, isKnownGone } from '../../inventory/branchStatus.ts';
import { DELETION_SIGNAL } from '../deletionSignal.ts';

export function onTerminalClosed(terminal: Terminal, then: () => void): void {
  const listener = window.onDidCloseTerminal((closed) => {
    if (closed !== terminal) return;
    listener.dispose();
    then();
  });
}

interface Lists {
  readonly session: Pick<Session, 'connection'>;
  readonly inventory: Pick<Inventory, 'computesOf' | 'ensureComputes' | 'onDidChange' | 'projects'>;
}

/**
 * Lets the terminal say that its compute was deleted, as far as the loaded lists show it. psql notices that only with the next
 * command, and doesn't say why. It isn't ended, because it would lose its history of commands.
 */
export function noteDeletion({ session, inventory }: Lists, terminal: Terminal, compute: ComputeIds): void {
  const account = session.connection?.accountId;
  const listener = inventory.onDidChange(() => {
    if (session.connection?.accountId !== account) return;
    askForUnlisted(inventory, compute.projectId);
    if (!isDeleted(inventory, compute)) return;
    listener.dispose();
    void sendSignal(terminal);
  });
  onTerminalClosed(terminal, () => listener.dispose());
}

function isDeleted(inventory: Lists['inventory'], { projectId, computeId }: ComputeIds): boolean {
  const list = inventory.computesOf(projectId);
  return isKnownGone(inventory, projectId) || (list?.isLoaded === true && !list.isListed(computeId));
}

async function sendSignal(terminal: Terminal): Promise<void> {
  const processId = await terminal.processId;
  // Another process may have got the id of one that has ended.
  if (processId === undefined || terminal.exitStatus !== undefined || process.platform === 'win32') return;
  try {
    process.kill(processId, DELETION_SIGNAL);
  } catch {
    // It has just ended.
  }
}
