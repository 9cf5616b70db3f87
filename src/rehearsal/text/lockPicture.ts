/** Draws when others would have waited for which table. The picture is text, so that it is the same in each theme and in a terminal. */
import { sanitize } from '../../base/sanitize.ts';
import type { Translator } from '../../base/translator.ts';
import type { BlockedTable, BlockedUse } from '../blockedTables.ts';
import type { RehearsalReport } from '../report.ts';
import type { ReportTexts } from './reportTexts.ts';

/** Characters. */
const WIDTH = 48;
const MAX_NAME = 40;
const MAX_TABLES = 12;

type Kind = BlockedUse | 'rows';
/** The weakest comes first: another one takes its place where both are. */
const KINDS = ['changes of its definition', 'rows', 'writes', 'reads'] as const satisfies readonly Kind[];
const SYMBOLS: Readonly<Record<Kind, string>> = {
  'changes of its definition': '─',
  rows: '░',
  writes: '▒',
  reads: '█',
};
const NO_LOCK = '·';

interface LockPicture {
  /** A bar for each table, the times, and what the symbols mean. */
  readonly lines: readonly string[];
  /** The same in words, for a screen reader. */
  readonly alternative: string;
}

/** @returns undefined if others would have waited for nothing */
export function lockPicture(
  { timeline, blocked, statements }: RehearsalReport,
  texts: ReportTexts,
  l10n: Translator,
): LockPicture | undefined {
  if (timeline.length === 0) return undefined;
  const all = [...statements, ...timeline];
  const start = firstOf(all);
  const end = all.reduce((last, { from, milliseconds }) => Math.max(last, from + milliseconds), 0);
  const total = Math.max(end - start, 1);
  const tables = [
    ...Map.groupBy(timeline, ({ database, table }) => JSON.stringify([database, table])).values(),
  ].toSorted((a, b) => longestOf(b) - longestOf(a));
  const shown = tables.slice(0, MAX_TABLES).toSorted((a, b) => firstOf(a) - firstOf(b));
  const more = tables.length - shown.length;
  const duration = texts.duration(total);
  const bars = shown.map((blocks) => bar(blocks, start, total));
  return {
    lines: [
      ...bars.map((each, index) => `${each}  ${sanitize(shown[index]?.[0]?.table ?? '', MAX_NAME)}`),
      ...(more > 0 ? [`${' '.repeat(WIDTH)}  ${l10n.t('{0} more', more)}`] : []),
      `0${duration.padStart(WIDTH - 1)}`,
      ...KINDS.toReversed().flatMap((kind) =>
        bars.some((each) => each.includes(SYMBOLS[kind])) ? [`${SYMBOLS[kind]} ${kindText(kind, l10n)}`] : [],
      ),
    ],
    alternative: [
      l10n.t('Locks within {0}:', duration),
      blocked
        .map((each) => l10n.t('{0}, after {1}', texts.waitText(each), texts.duration(each.from - start)))
        .join('; '),
    ].join(' '),
  };
}

const kindOf = ({ blocks, rows }: BlockedTable): Kind => (rows === undefined ? blocks : 'rows');
const longestOf = (blocks: readonly BlockedTable[]): number =>
  blocks.reduce((longest, { milliseconds }) => Math.max(longest, milliseconds), 0);
/** There can be too many for the arguments of one call. */
const firstOf = (seen: readonly Pick<BlockedTable, 'from'>[]): number =>
  seen.reduce((first, { from }) => Math.min(first, from), Infinity);

/** @param start when the picture begins @param total its milliseconds */
function bar(blocks: readonly BlockedTable[], start: number, total: number): string {
  const cells = Array.from({ length: WIDTH }, () => NO_LOCK);
  for (const kind of KINDS)
    for (const { from, milliseconds } of blocks.filter((each) => kindOf(each) === kind)) {
      const first = Math.min(WIDTH - 1, Math.floor(((from - start) / total) * WIDTH));
      // A short one has a character, too.
      const last = Math.max(first + 1, Math.ceil(((from + milliseconds - start) / total) * WIDTH));
      cells.fill(SYMBOLS[kind], first, last);
    }
  return cells.join('');
}

function kindText(kind: Kind, l10n: Translator): string {
  switch (kind) {
    case 'reads':
      return l10n.t('reads and writes wait');
    case 'writes':
      return l10n.t('writes wait');
    case 'rows':
      return l10n.t('writes of the same rows wait');
    case 'changes of its definition':
      return l10n.t('changes of the definition wait');
  }
}
