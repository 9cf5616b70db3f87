import { l10n } from 'vscode';
import { parseDelay, type DelayLimits } from '../../delay.ts';
import { durationText } from '../timeText.ts';
import type { Choice } from './quickInput.ts';

/**
 * Returns the item for an entered delay, such as `90 s`. It says what is wrong if the delay is out of the limits.
 * @returns undefined for other text
 */
export function delayItem(
  text: string,
  { min, max }: DelayLimits,
  labelOf: (seconds: number) => string,
): Choice<number> | undefined {
  const parsed = parseDelay(text, { min, max });
  if (parsed === undefined) return undefined;
  if ('seconds' in parsed) return { label: labelOf(parsed.seconds), alwaysShow: true, value: parsed.seconds };
  const description =
    parsed.problem === 'tooShort'
      ? l10n.t('too short: at least {0}', durationText(min))
      : l10n.t('too long: at most {0}', durationText(max));
  return { label: text, description, alwaysShow: true, value: undefined };
}
