import { l10n } from 'vscode';
import type { AcceptedChange } from '../../model/operations/computeChanges.ts';
import { setStartOffered } from '../state/contextKey.ts';

/** The result of a start or suspension. Hides both actions and throws if the service doesn't offer them. */
export function requireOffered(change: AcceptedChange | undefined): AcceptedChange {
  if (change !== undefined) return change;
  setStartOffered(false);
  throw new Error(
    l10n.t(
      "This service can't start or suspend computes on request, or this API key doesn't allow it. They start when a client connects, and suspend after inactivity.",
    ),
  );
}
