/** The value below which `share` (0 to 1) of the values lie; between two values, the part of the way. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error('There is no quantile of nothing');
  return below + (above - below) * (position % 1);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The median of the ratios of values that were measured one right after the other: what else the machine did meanwhile
 * hit both alike.
 */
export function medianRatio(ours: readonly number[], bare: readonly number[]): number {
  return median(ours.map((value, index) => value / (bare[index] ?? Number.NaN)));
}
