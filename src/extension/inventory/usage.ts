/** What computes have used since the start of the billing period. */

interface Counters {
  /** CU-seconds. */
  readonly compute_time_seconds?: number | null | undefined;
  readonly active_time_seconds?: number | null | undefined;
  /** The same counters in lists of projects. */
  readonly cpu_used_sec?: number | null | undefined;
  readonly active_time?: number | null | undefined;
}

/** What a project or compute has used, in hours. */
export interface Usage {
  readonly cuHours?: number | undefined;
  readonly activeHours?: number | undefined;
}

const hours = (seconds: number | null | undefined): number | undefined =>
  typeof seconds === 'number' ? seconds / 3600 : undefined;

export const usageOf = (record: Counters): Usage => ({
  cuHours: hours(record.compute_time_seconds ?? record.cpu_used_sec),
  activeHours: hours(record.active_time_seconds ?? record.active_time),
});

/** Changes with each tenth of an hour, so that the usage in a tooltip doesn't redraw the row at each refresh. */
export const usageStep = (record: Counters): number => {
  const { cuHours = 0, activeHours = 0 } = usageOf(record);
  return Math.floor(Math.max(cuHours, activeHours) * 10);
};
