import { window, workspace } from 'vscode';
import type { Session } from '../../account/session.ts';
import { hasOpenMessage } from '../../window/ui/window.ts';
import type { Inventory } from '../../inventory/inventory.ts';

/** Whether the user can answer an offer now with one click: signed in, the branches of a project loaded, and no other message. */
export function canAnswerOffer({
  session,
  inventory,
}: {
  readonly session: Session;
  readonly inventory: Inventory;
}): boolean {
  if (session.connection === undefined || !workspace.isTrusted) return false;
  if (!window.state.focused || hasOpenMessage()) return false;
  const projects = inventory.projects?.entries.keys() ?? [];
  return [...projects].some((id) => inventory.branches.forProject(id) !== undefined);
}
