/**
 * The last day of a compute as a picture (SVG) and as text. The states differ in height as well as in color, and the colors
 * are those of VS Code's theme.
 */
import { env, l10n } from 'vscode';
import { DAY_MILLISECONDS, totalTime, type ActivityPhase, type ActivitySpan } from '../activitySpans.ts';

const WIDTH = 960;
const BAR = 28;
const HEIGHT = 48;
const HOUR = 60 * 60_000;
/** The hours between two labels. */
const LABELS = 4;

/** A phase without a style is a gap. */
const STYLES: Readonly<Partial<Record<ActivityPhase, { readonly height: number; readonly color: string }>>> =
  {
    active: { height: BAR, color: 'var(--vscode-charts-green, #388a34)' },
    starting: { height: BAR * 0.7, color: 'var(--vscode-charts-orange, #d18616)' },
    idle: { height: 4, color: 'var(--vscode-descriptionForeground, #808080)' },
  };

/** Returns the picture as SVG without blank lines, so that it can be part of Markdown. It contains no text of the service. */
export function activityPicture(spans: readonly ActivitySpan[], label: string): string {
  const begin = spans[0]?.from ?? 0;
  const xOfTime = (time: number) => Math.round(((time - begin) / DAY_MILLISECONDS) * WIDTH * 10) / 10;
  const bars = spans.flatMap(({ phase, from, to }) => {
    const style = STYLES[phase];
    if (style === undefined) return [];
    const width = Math.max(1, xOfTime(to) - xOfTime(from));
    const place = `x="${xOfTime(from)}" y="${BAR - style.height}" width="${width}" height="${style.height}"`;
    return `<rect ${place} style="fill:${style.color}"/>`;
  });
  const [first = 0, ...others] = fullHours(begin);
  const ticks = [first, ...others].map((time) => {
    const text = new Date(time).toLocaleTimeString(env.language, { hour: 'numeric', minute: '2-digit' });
    const line = `<line x1="${xOfTime(time)}" y1="${BAR}" x2="${xOfTime(time)}" y2="${BAR + 5}" ${INK}/>`;
    return `${line}<text x="${xOfTime(time)}" y="${HEIGHT - 3}" font-size="12" text-anchor="middle" ${FILL}>${text}</text>`;
  });
  const frame = `<line x1="0" y1="${BAR}" x2="${WIDTH}" y2="${BAR}" ${INK}/>`;
  const name = label.replaceAll(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
  return `<div><svg role="img" aria-label="${name}" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="100%">${[...bars, frame, ...ticks].join('')}</svg></div>`;
}

const FILL = 'style="fill:currentColor"';
const INK = 'style="stroke:currentColor;stroke-width:1"';

/** Returns the local hours that get a label, without those at the edges, whose labels would be cut. */
function fullHours(begin: number): readonly number[] {
  const day = new Date(begin);
  day.setMinutes(0, 0, 0);
  return Array.from({ length: 26 }, (_, index) => day.getTime() + index * HOUR).filter(
    (time) =>
      new Date(time).getHours() % LABELS === 0 &&
      time > begin + HOUR / 2 &&
      time < begin + DAY_MILLISECONDS - HOUR / 2,
  );
}

/** Returns text such as `Active for 3 hours, 5 minutes. Number of starts: 4.` */
export function activitySummary(spans: readonly ActivitySpan[], starts: number): string {
  const active = Math.round(totalTime(spans, 'active') / 60_000);
  const [hours, minutes] = [Math.floor(active / 60), active % 60];
  const unit = (value: number, name: string) =>
    new Intl.NumberFormat(env.language, { style: 'unit', unit: name, unitDisplay: 'long' }).format(value);
  const time = hours === 0 ? unit(minutes, 'minute') : `${unit(hours, 'hour')}, ${unit(minutes, 'minute')}`;
  return l10n.t('Active for {0}. Number of starts: {1}.', time, starts);
}
