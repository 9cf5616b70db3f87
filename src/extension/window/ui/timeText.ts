/** Dates, durations and moments in the display language. */
import { env, l10n } from 'vscode';
import { pointInTimeParameter, type PointInTime } from '../../../api/records/pointInTime.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { TIME_UNITS } from '../timeUnits.ts';
import { AUTOSUSPEND_DEFAULT, autosuspendSeconds } from '../../../api/rules/autosuspendDelay.ts';

export const formatDate = (timestamp: string): string =>
  formatTimestamp(timestamp, (date) => date.toLocaleString(env.language));

/** Returns text such as `11/26/2026`. */
export const dayText = (timestamp: string): string =>
  formatTimestamp(timestamp, (date) => date.toLocaleDateString(env.language));

/** Formats a timestamp. Text that isn't a timestamp is returned sanitized. */
const formatTimestamp = (timestamp: string, toText: (date: Date) => string): string => {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? sanitize(timestamp, 40) : toText(date);
};

/** Returns text such as `5 minutes` or `1 hour, 30 minutes`. */
export function durationText(seconds: number): string {
  const parts: string[] = [];
  let left = Math.round(seconds);
  for (const [unit, length] of TIME_UNITS) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0) parts.push(inUnit(count, unit));
  }
  return parts.length === 0 ? inUnit(0, 'second') : parts.join(', ');
}

const inUnit = (count: number, unit: string): string =>
  new Intl.NumberFormat(env.language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);

const AGO = [['year', 365 * 24 * 60 * 60], ['month', 30 * 24 * 60 * 60], ...TIME_UNITS] as const;

/** Returns text such as `3 hours ago`; text that isn't a timestamp is returned sanitized. */
export function timeAgo(timestamp: string, now: number = Date.now()): string {
  const seconds = Math.round((now - Date.parse(timestamp)) / 1000);
  // The service's clock may be slightly ahead of ours.
  return seconds < 45 ? l10n.t('just now') : relativeTime(timestamp, -seconds);
}

/** Returns text such as `in 3 hours`. */
export const timeAhead = (timestamp: string, now: number = Date.now()): string =>
  relativeTime(timestamp, Math.max(0, Math.round((Date.parse(timestamp) - now) / 1000)));

/** Returns text such as `23 h`, for rows. @param timestamp the time of the end */
export function timeLeft(timestamp: string, now: number = Date.now()): string {
  const minutes = Math.max(0, Math.floor((Date.parse(timestamp) - now) / 60_000));
  if (Number.isNaN(minutes)) return sanitize(timestamp, 40);
  if (minutes < 60) return l10n.t('{0} min', minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? l10n.t('{0} h', hours) : l10n.t('{0} d', Math.floor(hours / 24));
}

/** Returns text such as `3 hours ago (1/31/2026, 10:00:00 AM)`, for tooltips. */
export function timeAndDate(timestamp: string, now: number = Date.now()): string {
  const date = formatDate(timestamp);
  const time = Date.parse(timestamp);
  if (Number.isNaN(time)) return date;
  // The service's clock may be slightly ahead of ours.
  return `${time - now > 45_000 ? timeAhead(timestamp, now) : timeAgo(timestamp, now)} (${date})`;
}

function relativeTime(timestamp: string, seconds: number): string {
  if (Number.isNaN(seconds)) return sanitize(timestamp, 40);
  const [unit, length] = AGO.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  const format = new Intl.RelativeTimeFormat(env.language, { numeric: 'auto' });
  return format.format(Math.trunc(seconds / length), unit);
}

/** @param delay the delay as in the compute's record: see `autosuspendDelay.ts` */
export function autosuspendText(delay: number | null | undefined): string {
  const seconds = autosuspendSeconds(delay ?? AUTOSUSPEND_DEFAULT);
  if (seconds === undefined) return l10n.t('never');
  const isDefault = (delay ?? AUTOSUSPEND_DEFAULT) === AUTOSUSPEND_DEFAULT;
  return isDefault
    ? l10n.t('after {0} (default)', durationText(seconds))
    : l10n.t('after {0}', durationText(seconds));
}

/** Returns text such as `14:32:07`, because much happens in a minute, and the date as well if that isn't today's. */
export function clockText(time: number, now = Date.now()): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return date.toLocaleString(env.language, {
    ...(isToday ? {} : { dateStyle: 'medium' }),
    timeStyle: 'medium',
  });
}

export const timeAgoFrom = (time: number, now: number): string => timeAgo(new Date(time).toISOString(), now);

/** Names earlier data of a branch, such as `main · 14:32:07`. @param name the name of the branch */
export function pastBranchText(name: string, at: PointInTime | undefined): string {
  if (at === undefined) return name;
  const { timestamp } = at;
  return `${name} · ${timestamp === undefined ? pointInTimeParameter(at) : clockText(Date.parse(timestamp))}`;
}

/** Returns text such as `11/26/2026, 2:32:10 PM · 20 minutes ago`, or an LSN. */
export function pointInTimeText(point: PointInTime, now = Date.now()): string {
  const { timestamp } = point;
  if (timestamp === undefined) return `LSN ${pointInTimeParameter(point)}`;
  const date = new Date(timestamp);
  return `${date.toLocaleString(env.language)} · ${timeAgoFrom(date.getTime(), now)}`;
}
