/**
 * A moment as users and agents enter it: `20 min ago`, `1 h 30 min`, `14:32`, `14.32`, `2:32 pm`, `yesterday 9:05`,
 * `2026-11-26 14:32:10`, `26.11.2026 14:32`, a time with a zone, or an LSN such as `0/1A2B3C8`. A time without a zone is local.
 */
import type { PointInTime } from '../../api/records/pointInTime.ts';
import { parseDelay } from '../window/delay.ts';

/** Between which moments an entered one must be. */
export interface MomentLimits {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The earliest moment that can be restored; undefined if it isn't known. */
  readonly earliest: number | undefined;
}

/** @property lsn the text as an LSN that can't be read as a date, such as `11/00002026` for `11/2026` */
type ParsedMoment =
  | PointInTime
  | { readonly problem: 'skipped' | 'future' | 'tooOld' }
  | { readonly problem: 'ambiguous'; readonly lsn: string };

const LSN = /^([0-9a-f]{1,8})\/([0-9a-f]{1,8})$/i;
/** Matches what may be a date as well: decimal digits, no more than a year has, and not 0 first, which is no part of a date. */
const DATE_OR_LSN = /^(?!0+\/)\d{1,4}\/\d{1,4}$/;
const DAY = 24 * 60 * 60;
const MAX_AGE = { min: 0, max: 366 * DAY };

/** Returns the moment that the user has typed, or the problem with it; undefined if the text is no moment. */
export function parseMoment(text: string, { now, earliest = 0 }: MomentLimits): ParsedMoment | undefined {
  const trimmed = text.trim();
  const [, high, low] = LSN.exec(trimmed) ?? [];
  if (high !== undefined && low !== undefined) {
    const isAmbiguous = DATE_OR_LSN.test(trimmed);
    if (isAmbiguous) return { problem: 'ambiguous', lsn: `${high}/${low.padStart(8, '0')}` };
    return { lsn: trimmed.toUpperCase() };
  }
  const in24h = in24Hours(trimmed);
  const time = timeAgo(trimmed, now) ?? clockTime(in24h, now) ?? fullTime(in24h);
  if (time === undefined) return undefined;
  if (Number.isNaN(time)) return { problem: 'skipped' };
  if (time > now) return { problem: 'future' };
  return time < earliest ? { problem: 'tooOld' } : { timestamp: new Date(time).toISOString() };
}

/** The units in English and German. `parseDelay` knows the English ones. A number after hours means minutes if it has no unit. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/sek(?:\.|unden?)?/gi, 's'],
  [/min(?:uten\b|\.)/gi, 'm'],
  [/(?:stunden?|std\.?)/gi, 'h'],
  [/tag(?:en?)?\b/gi, 'd'],
  [/ (?:and|und) /gi, ' '],
  [/(?<=h(?:ours?)? ?)\d+$/gi, '$&m'],
];

/** Returns the time of a text such as `20 min ago` or `vor 1 h 30`. */
function timeAgo(text: string, now: number): number | undefined {
  const [, span = ''] = /^(?:vor )?(.*?)(?: ago)?$/i.exec(text) ?? [];
  // Digits with a point, such as 14.30, are a time of day.
  const seconds = /^\d+\.\d+$/.test(span) ? undefined : secondsOf(span);
  return seconds === undefined ? undefined : now - 1000 * seconds;
}

function secondsOf(span: string): number | undefined {
  const inEnglish = UNITS.reduce((known, [unit, letter]) => known.replace(unit, letter), span);
  const parts = inEnglish.match(/\d+(?:[.,]\d+)?\s*[a-z]*/gi) ?? [];
  const hasOnlyParts = parts.join('') === inEnglish.replace(/(?<=[a-z])[\s,]+/gi, '');
  const hasAllUnits = parts.length === 1 || parts.every((part) => /[a-z]/i.test(part));
  if (parts.length === 0 || !hasOnlyParts || !hasAllUnits) return undefined;
  const delays = parts.map((part) => parseDelay(part, MAX_AGE));
  const seconds = delays.flatMap((delay) => (delay !== undefined && 'seconds' in delay ? delay.seconds : []));
  return seconds.length === parts.length ? seconds.reduce((sum, each) => sum + each, 0) : undefined;
}

/** `2:32 pm` becomes `14:32`. Other text stays as it is. */
const in24Hours = (text: string): string =>
  text.replace(/\b(0?[1-9]|1[0-2])(:\d{2}(?::\d{2})?) ?([ap])\.?m\.?$/i, (_, hour, rest, half) => {
    const hours = (Number(hour) % 12) + (/p/i.test(String(half)) ? 12 : 0);
    return `${String(hours).padStart(2, '0')}${String(rest)}`;
  });

/** Returns the last time that a clock showed this: today, or yesterday if that is still to come. The text may name the day. */
function clockTime(text: string, now: number): number | undefined {
  const [, day, hour, minute, second = '0'] =
    /^(?:(today|yesterday|heute|gestern),? (?:at |um )?)?(\d{1,2})[:.](\d{2})(?::(\d{2}))?$/i.exec(text) ??
    [];
  if (hour === undefined || minute === undefined) return undefined;
  const daysAgo = (days: number) => {
    // A day isn't subtracted as 24 hours, because one on which the clocks change has more or less.
    const date = new Date(now);
    date.setDate(date.getDate() - days);
    const numbers = [date.getFullYear(), date.getMonth() + 1, date.getDate()] as const;
    return localTime(numbers, [Number(hour), Number(minute), Number(second)]);
  };
  const time = daysAgo(/^(yesterday|gestern)$/i.test(day ?? '') ? 1 : 0);
  return day === undefined && time !== undefined && time > now ? daysAgo(1) : time;
}

function fullTime(entered: string): number | undefined {
  const text = entered.replace(
    /^(\d{1,2})\.(\d{1,2})\.(\d{4}),? /,
    (_, day, month, year) => `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')} `,
  );
  const [, year, month, day, hour, minute, second = '0', fraction = '', zone] =
    /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)? ?(Z|[+-]\d{2}(?::?\d{2})?)?$/i.exec(
      text,
    ) ?? [];
  if (year === undefined) return undefined;
  if (zone === undefined) {
    const time = localTime([year, month, day].map(Number), [hour, minute, second].map(Number));
    return time === undefined ? undefined : time + Math.floor(Number(`0${fraction}`) * 1000);
  }
  const offset = /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  const time = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${second.padStart(2, '0')}${fraction}${offset}`,
  );
  return Number.isNaN(time) ? undefined : time;
}

/** Returns milliseconds since 1970; undefined if there is no such local time, and NaN if the clocks skipped it when they went forward. */
function localTime(
  [year = 0, month = 0, day = 0]: readonly number[],
  [hour = 0, minute = 0, second = 0]: readonly number[],
): number | undefined {
  const date = new Date(year, month - 1, day, hour, minute, second);
  const isOfDay = date.getMonth() === month - 1 && date.getDate() === day;
  if (!isOfDay || minute > 59 || second > 59) return undefined;
  return date.getHours() === hour && date.getMinutes() === minute ? date.getTime() : NaN;
}
