/** Texts for moments and times. */
import { clockText, timeAgoFrom, pointInTimeText } from '../../window/ui/timeText.ts';
import { l10n, ThemeIcon } from 'vscode';
import { agentName } from '../../inventory/ui/agentText.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { Choice } from '../../window/ui/input/quickInput.ts';
import type { Moment } from '../moments.ts';
import type { PointInTime } from '../../../api/records/pointInTime.ts';
import { parseMoment, type MomentLimits } from '../parseMoment.ts';

/** What happened just after the moment. */
export function momentText(moment: Moment, now: number): string {
  switch (moment.kind) {
    case 'undo':
      return l10n.t('Undo the undo of {0}', clockText(moment.time, now));
    case 'agent':
      if (moment.text === '') return l10n.t('Before the turn of {0}', agentName(moment.by));
      return moment.changes > 1
        ? l10n.t('Before {0} changes of {1}', moment.changes, agentName(moment.by))
        : l10n.t('Before {0}: {1}', agentName(moment.by), sanitize(moment.text));
    case 'mark':
      return l10n.t('“{0}”', sanitize(moment.text));
    case 'snapshot':
      return moment.isOfOther === true
        ? l10n.t('Snapshot “{0}” of a deleted branch', sanitize(moment.text, 80))
        : l10n.t('Snapshot “{0}”', sanitize(moment.text, 80));
    case 'program':
      return l10n.t('Before {0}', sanitize(moment.text));
    case 'schema':
      return schemaText(moment);
    case 'commit':
      return l10n.t('Before commit {0} “{1}”', moment.commit, sanitize(moment.text, 80));
    case 'checkout':
      return l10n.t('Before the checkout of {0}', sanitize(moment.text, 80));
    case 'reset':
      return l10n.t('Before git reset to {0}', sanitize(moment.text, 80));
    case 'merge':
      return l10n.t('Before git merge {0}', sanitize(moment.text, 80)).trim();
    case 'ago':
      return timeAgoFrom(moment.time, now);
    case 'created':
      return l10n.t('As it was created');
    default:
      return moment satisfies never;
  }
}

/** Returns the text of a moment for a sentence, with the time if the text doesn't say when it was. */
export function momentWithTime(moment: Moment, now: number): string {
  const text = momentText(moment, now);
  if (moment.kind === 'ago' || moment.kind === 'undo' || moment.kind === 'created') return text;
  return `${text} (${clockText(moment.time, now)})`;
}

function schemaText({
  migrations,
  created,
  altered,
  dropped,
  truncated,
  deleted = 0,
  tables = 1,
}: Extract<Moment, { readonly kind: 'schema' }>): string {
  if (deleted > 0 && tables > 1) return l10n.t('Before {0} rows of {1} tables were deleted', deleted, tables);
  if (deleted > 0) return l10n.t('Before {0} rows were deleted', deleted);
  if (migrations === 1) return l10n.t('Before a migration');
  if (migrations > 1) return l10n.t('Before {0} migrations', migrations);
  const parts = [
    created > 0 ? l10n.t('{0} created', created) : '',
    altered > 0 ? l10n.t('{0} altered', altered) : '',
    dropped > 0 ? l10n.t('{0} dropped', dropped) : '',
    truncated > 0 ? l10n.t('{0} truncated', truncated) : '',
  ].filter((part) => part !== '');
  return parts.length === 0
    ? l10n.t('Before a change of the schema')
    : l10n.t('Before changes of tables: {0}', parts.join(', '));
}

const ICONS: Readonly<Record<Moment['kind'], string>> = {
  undo: 'redo',
  agent: 'hubot',
  program: 'terminal',
  schema: 'table',
  mark: 'bookmark',
  snapshot: 'device-camera',
  commit: 'git-commit',
  checkout: 'git-branch',
  reset: 'discard',
  merge: 'git-merge',
  ago: 'history',
  created: 'add',
};

/**
 * Returns the item of a list for a moment.
 * @param value what picking the item returns
 * @param changes what has changed since then, in the same line, so that items don't move under the pointer when it becomes known
 */
export function momentItem<T>(moment: Moment, now: number, value: T, changes?: string): Choice<T> {
  const time = clockText(moment.time, now);
  const parts =
    moment.kind === 'undo'
      ? [sanitize(moment.name)]
      : moment.kind === 'ago'
        ? [time]
        : [time, timeAgoFrom(moment.time, now)];
  return {
    label: momentText(moment, now),
    description: [...parts, ...(changes === undefined ? [] : [changes])].join(' · '),
    iconPath: new ThemeIcon(ICONS[moment.kind]),
    value,
  };
}

/** Returns why the text isn't a moment that can be used; undefined if it is one. */
export function momentProblem(text: string, limits: MomentLimits): string | undefined {
  const parsed = parseMoment(text, limits);
  if (parsed === undefined) return l10n.t('Enter a time such as 20 min ago, 14:32 or 2026-01-31 14:32:10');
  if (!('problem' in parsed)) return undefined;
  if (parsed.problem === 'ambiguous')
    return l10n.t('A date or a position? Enter a date with its time, or {0}', parsed.lsn);
  return {
    skipped: l10n.t("This time doesn't exist: the clocks were set forward"),
    future: l10n.t('This time is in the future'),
    tooOld: l10n.t('The history begins {0}', clockText(limits.earliest ?? 0, limits.now)),
  }[parsed.problem];
}

/** Returns the item for an entered text; undefined if it can't become a moment, such as the beginning of another item. */
export function typedMomentItem(text: string, limits: MomentLimits): Choice<PointInTime> | undefined {
  const parsed = parseMoment(text, limits);
  if (parsed === undefined) return undefined;
  const item = { label: sanitize(text), alwaysShow: true, iconPath: new ThemeIcon('history') };
  if ('problem' in parsed)
    return { ...item, description: momentProblem(text, limits) ?? '', value: undefined };
  return { ...item, description: pointInTimeText(parsed, limits.now), value: parsed };
}
