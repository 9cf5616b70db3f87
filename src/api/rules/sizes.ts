/**
 * Compute sizes and the limits that follow from them, as data and pure functions.
 * All sizes are in compute units (CU), memory in GB.
 */

export interface ComputeSize {
  readonly cu: number;
  readonly vcpu: number;
  readonly ramGb: number;
  /** Local file cache, 80 % of the RAM. */
  readonly fileCacheGb: number;
  /** The `max_connections` of a compute whose range of sizes begins with this one. */
  readonly maxConnections: number;
}

/** The plan of an account, which limits the sizes of computes. */
export type Plan = 'free' | 'paid';

/** A fixed size has `min === max`; anything else is an autoscaling range. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/** `shared_buffers` of computes of any size. */
export const SHARED_BUFFERS_MB = 128;

/** The most client connections that a pooled host accepts at once. */
export const POOLED_CONNECTIONS = 10_000;

const standardSize = (cu: number, maxConnections: number): ComputeSize => ({
  cu,
  vcpu: cu,
  ramGb: cu * 4,
  fileCacheGb: Math.round(cu * 4 * 0.8 * 10) / 10,
  maxConnections,
});

/** Every allowed size, smallest first. */
export const COMPUTE_SIZES: readonly ComputeSize[] = [
  standardSize(0.25, 112),
  standardSize(0.5, 225),
  standardSize(1, 450),
  standardSize(2, 901),
  standardSize(3, 1351),
  standardSize(4, 1802),
  standardSize(5, 2253),
  standardSize(6, 2703),
  standardSize(7, 3154),
  standardSize(8, 3604),
  standardSize(9, 4000),
  standardSize(10, 4000),
];

export const DEFAULT_SIZE: SizeRange = { min: 0.25, max: 0.25 };

/** Returns the table row for a size, or undefined if the table does not contain it. */
export const computeSize = (cu: number): ComputeSize | undefined =>
  COMPUTE_SIZES.find((row) => row.cu === cu);

/** Returns the sizes that a plan offers. The free plan ends at 1 GB of RAM. */
export const sizesOfPlan = (plan: Plan): readonly ComputeSize[] =>
  plan === 'free' ? COMPUTE_SIZES.filter((row) => row.ramGb <= 1) : COMPUTE_SIZES;

/**
 * Returns `max_connections` of a compute. It depends on the minimum of the range and doesn't grow when the compute scales up.
 * @param minCu minimum size in CU
 * @returns undefined if the table does not contain the size
 */
export const maxConnections = (minCu: number): number | undefined => computeSize(minCu)?.maxConnections;

type SizeProblem = 'not-a-size' | 'min-above-max' | 'above-plan';

/** Returns why a plan doesn't offer a range; undefined if it does. */
export function sizeProblem(range: SizeRange, plan: Plan = 'paid'): SizeProblem | undefined {
  if (computeSize(range.min) === undefined || computeSize(range.max) === undefined) return 'not-a-size';
  if (range.min > range.max) return 'min-above-max';
  const allowed = sizesOfPlan(plan);
  return allowed.some((row) => row.cu === range.max) ? undefined : 'above-plan';
}

export const isFixedSize = (range: SizeRange): boolean => range.min === range.max;
