/**
 * Asks for the size of a compute: a fixed one, or the minimum and maximum of an autoscaling range. Each size is shown with
 * its resources. In a range, the minimum determines `max_connections`.
 */
import { l10n, QuickPickItemKind, ThemeIcon } from 'vscode';
import {
  AUTOSUSPEND_DEFAULT,
  AUTOSUSPEND_MAX_SECONDS,
  AUTOSUSPEND_MIN_SECONDS,
  AUTOSUSPEND_NEVER,
} from '../../../api/rules/autosuspendDelay.ts';
import {
  COMPUTE_SIZES,
  isFixedSize,
  maxConnections,
  type ComputeSize,
  type SizeRange,
} from '../../../api/rules/sizes.ts';
import { autosuspendText, durationText } from '../../window/ui/timeText.ts';
import { numberText } from '../../inventory/ui/sizeText.ts';
import { delayItem } from '../../window/ui/input/delayItem.ts';
import type { Ask, StepsLeft, Question } from '../../window/ui/input/multiStepInput.ts';
import { pickOne, type Choice } from '../../window/ui/input/quickInput.ts';

/** @param current the size of the compute, marked and focused */
export async function askSize(
  ask: Ask,
  current: SizeRange | undefined,
  { following = 0 }: StepsLeft = {},
): Promise<SizeRange> {
  const fixed = await ask(fixedSizeQuestion(current), { following });
  if (fixed !== 'range') return { min: fixed, max: fixed };
  const min = await ask(minimumQuestion(current), { following: following + 1 });
  const max = await ask(maximumQuestion(min, current), { following });
  return { min, max };
}

function fixedSizeQuestion(current: SizeRange | undefined): Question<number | 'range'> {
  const range = current !== undefined && !isFixedSize(current) ? current : undefined;
  const autoscaling = {
    label: l10n.t('Autoscaling…'),
    iconPath: new ThemeIcon('arrow-both'),
    description: prefixMark(
      l10n.t('scales with the load between a minimum and a maximum, without restarts'),
      range && l10n.t('current: {0}–{1} CU', numberText(range.min), numberText(range.max)),
    ),
    value: 'range' as const,
  };
  const fixed = range === undefined ? current?.min : undefined;
  // A new compute starts with the smallest size.
  const focused = current === undefined ? COMPUTE_SIZES[0]?.cu : fixed;
  const sizes = COMPUTE_SIZES.map((size) => ({
    ...sizeItem(size, size.maxConnections, fixed),
    isCurrent: size.cu === focused,
  }));
  const separator = { label: l10n.t('Fixed size'), kind: QuickPickItemKind.Separator, value: undefined };
  const placeholder = l10n.t('Select a fixed size or autoscaling');
  return pickOne<number | 'range'>({
    placeholder,
    items: [autoscaling, separator, ...sizes],
  });
}

function minimumQuestion(current: SizeRange | undefined): Question<number> {
  // The largest size can't be a minimum: the maximum must be larger.
  const items = COMPUTE_SIZES.slice(0, -1).map((size) => sizeItem(size, size.maxConnections, current?.min));
  const placeholder = l10n.t('Select the minimum. It determines max_connections');
  return pickOne({ placeholder, items });
}

function maximumQuestion(min: number, current: SizeRange | undefined): Question<number> {
  const connections = maxConnections(min) ?? 0;
  const currentMax = current !== undefined && !isFixedSize(current) ? current.max : undefined;
  const items = COMPUTE_SIZES.filter(({ cu }) => cu > min).map((size) =>
    sizeItem(size, connections, currentMax),
  );
  const placeholder = l10n.t(
    'Select the maximum for a minimum of {0} CU and max_connections {1}',
    numberText(min),
    connections,
  );
  return pickOne({ placeholder, items });
}

function sizeItem(size: ComputeSize, connections: number, current: number | undefined): Choice<number> {
  const { cu, vcpu, ramGb, fileCacheGb } = size;
  const parts = [
    l10n.t('{0} vCPU', numberText(vcpu)),
    l10n.t('{0} GB RAM', numberText(ramGb)),
    l10n.t('{0} GB file cache', numberText(fileCacheGb)),
    l10n.t('max_connections {0}', connections),
  ];
  const isCurrent = cu === current;
  const mark = isCurrent ? l10n.t('current') : undefined;
  return {
    label: `${numberText(cu)} CU`,
    description: prefixMark(parts.join(' · '), mark),
    value: cu,
    isCurrent,
  };
}

/** The mark comes first, because VS Code cuts off the end of a long line. */
const prefixMark = (text: string, mark: string | undefined): string =>
  mark === undefined ? text : `${mark} · ${text}`;

const DELAY_LIMITS = { min: AUTOSUSPEND_MIN_SECONDS, max: AUTOSUSPEND_MAX_SECONDS };

const DELAY_PRESETS = [60, 15 * 60, 60 * 60, 8 * 60 * 60, 24 * 60 * 60, 7 * 24 * 60 * 60];

/** @param current the delay of the compute, marked and focused; undefined for a new one */
export function autosuspendQuestion(current: number | undefined): Question<number> {
  const delays = [AUTOSUSPEND_DEFAULT, ...DELAY_PRESETS, AUTOSUSPEND_NEVER];
  if (current !== undefined && !delays.includes(current)) delays.splice(1, 0, current);
  const items = delays.map((delay) => presetItem(delay, current));
  return pickOne({
    placeholder: l10n.t('Suspend after inactivity. Pick or type a delay, such as 90 s or 20 min'),
    items,
    typed: (text) =>
      delayItem(text, DELAY_LIMITS, (seconds) => capitalize(l10n.t('after {0}', durationText(seconds)))),
  });
}

function presetItem(delay: number, current: number | undefined): Choice<number> {
  const isCurrent = delay === current;
  const item = { label: capitalize(autosuspendText(delay)), value: delay, isCurrent };
  const description = isCurrent ? l10n.t('current') : '';
  const detail = l10n.t('Service updates (about weekly) then need a manual restart');
  return delay === AUTOSUSPEND_NEVER ? { ...item, description, detail } : { ...item, description };
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
