import { env, l10n } from 'vscode';
import type { Usage } from '../../model/inventory/usage.ts';

const digits = (hours: number): number => (hours < 1 ? 2 : 1);

/** Returns text such as `1.3 CU-hours, active for 5.2 hours`, or undefined if the service doesn't report it. */
export function usageText({ cuHours, activeHours }: Usage): string | undefined {
  const used = cuHours === undefined ? undefined : l10n.t('{0} CU-hours', numberText(cuHours));
  const active = activeHours === undefined ? undefined : l10n.t('active for {0}', hoursText(activeHours));
  const parts = [used, active].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(', ');
}

const numberText = (hours: number): string =>
  new Intl.NumberFormat(env.language, { maximumFractionDigits: digits(hours) }).format(hours);

function hoursText(hours: number): string {
  const format = { style: 'unit', unit: 'hour', unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(env.language, { ...format, maximumFractionDigits: digits(hours) }).format(
    hours,
  );
}
