/**
 * Says what the end of replication slots means for the programs that read them. Windows, agents and the log of the local
 * service show this.
 */
import { sanitize } from '../../base/sanitize.ts';
import { ENGLISH, type Translator } from '../../base/translator.ts';

/** Returns what programs that read these slots have to do; undefined if no slot has ended. */
export const endedSlotsMessage = (
  slots: readonly string[],
  l10n: Pick<Translator, 't'> = ENGLISH,
): string | undefined =>
  slots.length === 0
    ? undefined
    : l10n.t(
        'These replication slots are lost: {0}. Programs that read them must begin with a new slot and a new copy of the data.',
        slots.map((name) => sanitize(name, 63)).join(', '),
      );
