/** What the end of replication slots means for the programs that read them: for windows, agents and the log of the local service. */
import { sanitize } from '../../base/sanitize.ts';

/** The part of `vscode.l10n` that this needs. */
interface Translator {
  t(message: string, ...values: string[]): string;
}

const ENGLISH: Translator = {
  t: (message, ...values) => message.replaceAll(/\{(\d+)\}/g, (_, index) => String(values[Number(index)])),
};

/** @returns undefined without slots */
export const endedSlotsMessage = (slots: readonly string[], l10n = ENGLISH): string | undefined =>
  slots.length === 0
    ? undefined
    : l10n.t(
        'These replication slots end: {0}. Programs that read them must begin with a new slot and a new copy of the data.',
        slots.map((name) => sanitize(name, 63)).join(', '),
      );
