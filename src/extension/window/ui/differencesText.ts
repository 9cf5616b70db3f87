/** How much differs or has changed, in the status bar, the titles of diff editors and lists. */
import { l10n } from 'vscode';

interface DifferenceCounts {
  readonly added: number;
  /** Parts of a schema that the other one lacks. */
  readonly removed?: number;
  readonly changed: number;
  /** The number of deleted rows. */
  readonly deleted?: number;
}

/** Returns text such as `3 added, 1 changed, 2 deleted`; an empty text if nothing differs. */
export const differencesText = ({ added, removed = 0, changed, deleted = 0 }: DifferenceCounts): string =>
  [
    added > 0 ? l10n.t('{0} added', added) : '',
    removed > 0 ? l10n.t('{0} removed', removed) : '',
    changed > 0 ? l10n.t('{0} changed', changed) : '',
    deleted > 0 ? l10n.t('{0} deleted', deleted) : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
