/** What computes have used since the start of the billing period. */

interface Counters {
  /** The usage in CU-seconds. */
  readonly compute_time_seconds?: number | null | undefined;
  readonly active_time_seconds?: number | null | undefined;
  /** The same counters in lists of projects. */
  readonly cpu_used_sec?: number | null | undefined;
  readonly active_time?: number | null | undefined;
}

/** What the computes of a project or branch have used in the billing period, in hours. */
export interface ResourceUsage {
  readonly cuHours?: number | undefined;
  readonly activeHours?: number | undefined;
}

const toHours = (seconds: number | null | undefined): number | undefined =>
  typeof seconds === 'number' ? seconds / 3600 : undefined;

/** Returns the usage in a record of the service, in hours. */
export const recordedUsage = (record: Counters): ResourceUsage => ({
  cuHours: toHours(record.compute_time_seconds ?? record.cpu_used_sec),
  activeHours: toHours(record.active_time_seconds ?? record.active_time),
});

/** Returns a number that changes with each tenth of an hour of use, so that a refresh doesn't always redraw the row. */
export const usageStep = (record: Counters): number => {
  const { cuHours = 0, activeHours = 0 } = recordedUsage(record);
  return Math.floor(Math.max(cuHours, activeHours) * 10);
};
