/** What computes have used, in the display language. */
import { env, l10n } from 'vscode';
import type { ResourceUsage } from '../usage.ts';

/** Returns text such as `1.3 CU-hours, active for 5.2 hours`, or undefined if the service doesn't report it. */
export function usageText({ cuHours, activeHours }: ResourceUsage): string | undefined {
  const unit = { style: 'unit', unit: 'hour', unitDisplay: 'long' } as const;
  const used = cuHours === undefined ? [] : [l10n.t('{0} CU-hours', hoursText(cuHours))];
  const active = activeHours === undefined ? [] : [l10n.t('active for {0}', hoursText(activeHours, unit))];
  return [...used, ...active].join(', ') || undefined;
}

const hoursText = (hours: number, options: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(env.language, { ...options, maximumFractionDigits: hours < 1 ? 2 : 1 }).format(hours);
