/** Applies a settings document to its compute: looks for a newer version, says what happens, asks, and sends. */
import { l10n } from 'vscode';
import { isCancelled, isRefused } from '../../api/errors.ts';
import { labelOf } from '../../model/computeStatus.ts';
import type { ComputeChanges } from '../../model/computeChanges.ts';
import type { Inventory } from '../../model/inventory.ts';
import {
  areSameSettings,
  parseSettings,
  settingNamedIn,
  settingsOn,
  type PgSettings,
} from '../../model/pgSettings.ts';
import type { Session } from '../../model/session.ts';
import { explainError } from '../text/errorMessage.ts';
import { sanitize } from '../text/sanitize.ts';
import { computeOf, requireAccount, unavailable } from './settingsCompute.ts';
import type { Refusal, SettingsFile } from './settingsFile.ts';
import { askAboutConflict, confirmRestart, showDifference } from './settingsQuestions.ts';

interface Parts {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly changes: ComputeChanges;
}

/** `words`, where there are some, are for the status bar. */
export type SaveOutcome =
  | {
      readonly kind: 'accepted';
      readonly before: PgSettings;
      readonly isPending: boolean;
      readonly words?: string | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly words: string }
  /** The user wants to look first, or not at all. */
  | { readonly kind: 'putOff'; readonly words?: undefined };

/** @throws {FileSystemError} when there is nothing to be done about it in the document */
export async function applySettings(
  { session, inventory, changes }: Parts,
  file: SettingsFile,
  wanted: PgSettings,
): Promise<SaveOutcome> {
  const owner = requireAccount(session, file.uri);
  const compute = await computeOf(inventory, owner);
  const before = settingsOn(compute);
  const name = sanitize(labelOf(compute));
  if (areSameSettings(wanted, before)) {
    const words = l10n.t('{0} already has these settings', name);
    return { kind: 'accepted', before, isPending: false, words };
  }
  if (!file.knows(before)) {
    const choice = await askAboutConflict(compute);
    if (choice === 'compare') {
      // Seen now: the next save is about this version.
      file.base = before;
      void showDifference(file.uri, compute);
    }
    if (choice !== 'overwrite') return { kind: 'putOff' };
  }
  if (!(await confirmRestart(compute))) return { kind: 'putOff' };
  const node = { kind: 'compute', ...owner, branchId: compute.branch_id } as const;
  try {
    const { isPending } = await changes.update(node, { settings: { pg_settings: { ...wanted } } });
    const words = isPending ? undefined : l10n.t('Changed {0}', name);
    return { kind: 'accepted', before, isPending, words };
  } catch (error) {
    return refused(error, JSON.stringify(wanted));
  }
}

/** What the settings themselves are refused for; anything else is a save that failed. @throws {FileSystemError} */
function refused(error: unknown, text: string): SaveOutcome {
  if (isCancelled(error)) return { kind: 'putOff' };
  const { message: words } = explainError(error);
  if (!isRefused(error, 400, 409, 422)) throw unavailable(words);
  const refusal = refusalOf(words, text);
  return { kind: 'refused', refusal, words: l10n.t('Not applied: the document has problems') };
}

/** @param text the document that was refused, for the setting the words are about */
export function refusalOf(words: string, text: string): Refusal {
  const { settings } = { settings: undefined, ...parseSettings(text) };
  const key = settings && settingNamedIn(words, Object.keys(settings));
  return { key, value: key === undefined ? undefined : settings?.[key], words };
}
