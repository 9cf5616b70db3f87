/** Returns the value below which `share` (0 to 1) of the values lie, interpolated between two values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new Error('An empty list has no quantile');
  return below + (above - below) * (position % 1);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Returns the median of the ratios of values with the same index. They were measured one right after the other, so other
 * load on the machine affects both alike.
 */
export function medianRatio(ours: readonly number[], baseline: readonly number[]): number {
  return median(ours.map((value, index) => value / (baseline[index] ?? Number.NaN)));
}
