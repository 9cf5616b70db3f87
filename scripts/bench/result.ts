/** The rows of the result table, and how they are computed from measured values. */

/** One line of the result table: a value of the project, and the baseline measured in the same run. */
export interface Result {
  readonly what: string;
  /** A value with its unit. */
  readonly ours: string;
  readonly baseline: string;
  /** Ours divided by the baseline. Undefined if there is no baseline. */
  readonly ratio: number | undefined;
  /** The quartiles of the ratios of all rounds. */
  readonly spread?: readonly [number, number];
  readonly goal: string;
  readonly met: boolean;
  readonly note: string;
}

/** Values of both sides, measured one right after the other, so that other load on the machine affects both alike. */
export interface Pairs<T = number> {
  readonly ours: readonly T[];
  readonly baseline: readonly T[];
}

/** Measures both sides in turns and swaps their order each time. Rounds that only warm up are not counted. */
export async function measureInTurns<T = number>(
  rounds: number,
  warmUp: number,
  sides: { readonly ours: () => Promise<T>; readonly baseline: () => Promise<T> },
): Promise<Pairs<T>> {
  const [ours, baseline]: [T[], T[]] = [[], []];
  const turns = [
    async () => ours.push(await sides.ours()),
    async () => baseline.push(await sides.baseline()),
  ];
  for (let round = 0; round < rounds + warmUp; round += 1)
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  return { ours: ours.slice(warmUp), baseline: baseline.slice(warmUp) };
}

/** Takes one number from each of several that were measured at once. */
export const pick = <T>({ ours, baseline }: Pairs<T>, numberOf: (value: T) => number): Pairs => ({
  ours: ours.map(numberOf),
  baseline: baseline.map(numberOf),
});

/** Of values that were measured together. */
const ratios = ({ ours, baseline }: Pairs): number[] =>
  ours.map((value, index) => value / (baseline[index] ?? Number.NaN));

export const medianRatio = (pairs: Pairs): number => median(ratios(pairs));

/** Whether half of the rounds differ so much that the machine did something else too, and the ratio says little. */
export const isNoisy = ({ spread: [low, high] = [1, 1] }: Result): boolean => high > low * 1.5;

/** A row with the medians of both sides, and the median and quartiles of the ratios. */
export function comparison(
  pairs: Pairs,
  {
    unit,
    baseline,
    ...row
  }: Omit<Result, 'ours' | 'ratio' | 'spread'> & { readonly unit: (value: number) => string },
): Result {
  return {
    ...row,
    ours: unit(median(pairs.ours)),
    baseline: `${unit(median(pairs.baseline))} ${baseline}`,
    ratio: medianRatio(pairs),
    spread: [quantile(ratios(pairs), 0.25), quantile(ratios(pairs), 0.75)],
  };
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en-US')}/s`;

export const megabytes = (value: number): string => `${value.toFixed(0)} MB`;

export const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`;

/** Milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** The value below which `share` (0 to 1) of the values lie, interpolated between two values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error('An empty list has no quantile');
  return below + (above - below) * (position % 1);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

function ratioText({ ratio, spread }: Result): string {
  if (ratio === undefined) return '';
  const range = spread === undefined ? '' : ` (${spread.map((value) => value.toFixed(2)).join(' to ')})`;
  return `${ratio.toFixed(2)} ×${range}`;
}

/** Formats the results as a Markdown table, which is also readable in a terminal. */
export function table(results: readonly Result[]): string {
  const head = ['what', 'ours', 'baseline', 'ratio', 'goal', '', 'note'];
  const rows = results.map((each) => [
    each.what,
    each.ours,
    each.baseline,
    ratioText(each),
    each.goal,
    each.met ? 'met' : 'MISSED',
    each.note,
  ]);
  const widths = head.map((title, column) =>
    Math.max(3, ...[title, ...rows.map((row) => row[column] ?? '')].map((cell) => cell.length)),
  );
  // Notes are long and in the last column, so they are not padded.
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => '-'.repeat(column === head.length - 1 ? 6 : width + 2)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
