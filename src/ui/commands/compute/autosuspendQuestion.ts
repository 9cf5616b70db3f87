/** The delay after which an inactive compute is suspended (sections 3.1, 3.2 and 8). */
import { l10n } from 'vscode';
import {
  AUTOSUSPEND_DEFAULT,
  AUTOSUSPEND_MAX_SECONDS,
  AUTOSUSPEND_MIN_SECONDS,
  AUTOSUSPEND_NEVER,
} from '../../../api/records/autosuspend.ts';
import { parseDelay } from '../../../model/settings/delay.ts';
import { autosuspendText, delayProblem, duration } from '../../text/timeText.ts';
import type { Answer, Page } from '../input/multiStepInput.ts';
import { pickOne, type Choice } from '../input/quickInput.ts';

const LIMITS = { min: AUTOSUSPEND_MIN_SECONDS, max: AUTOSUSPEND_MAX_SECONDS };

const PRESETS = [60, 15 * 60, 60 * 60, 8 * 60 * 60, 24 * 60 * 60, 7 * 24 * 60 * 60];

/** @param current the delay of the compute, marked and focused; undefined for a new one */
export async function askAutosuspend(page: Page, current: number | undefined): Promise<Answer<number>> {
  const delays = [AUTOSUSPEND_DEFAULT, ...PRESETS, AUTOSUSPEND_NEVER];
  if (current !== undefined && !delays.includes(current)) delays.splice(1, 0, current);
  const items = delays.map((delay) => delayItem(delay, current));
  return await pickOne(page, {
    placeholder: l10n.t('Suspend after inactivity. Pick or type a delay, such as 90 s or 20 min'),
    items,
    typed: typedDelayItem,
  });
}

function delayItem(delay: number, current: number | undefined): Choice<number> {
  const isCurrent = delay === current;
  const item = { label: capital(autosuspendText(delay)), value: delay, isCurrent };
  const description = isCurrent ? l10n.t('current') : '';
  // Section 3.2, rule 5.
  const detail = l10n.t('Service updates (about weekly) then need a manual restart');
  return delay === AUTOSUSPEND_NEVER ? { ...item, description, detail } : { ...item, description };
}

function typedDelayItem(text: string): Choice<number> | undefined {
  const parsed = parseDelay(text, LIMITS);
  if (parsed === undefined) return undefined;
  if ('seconds' in parsed) {
    const label = capital(l10n.t('after {0}', duration(parsed.seconds)));
    return { label, alwaysShow: true, value: parsed.seconds };
  }
  return {
    label: text,
    description: delayProblem(parsed.problem, LIMITS),
    alwaysShow: true,
    value: undefined,
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
