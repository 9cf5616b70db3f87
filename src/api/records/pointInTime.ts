/**
 * A point in the history of a branch. It includes all that was written before a position (LSN), or was committed by a time (ISO 8601).
 * If there are both, the position counts, because times aren't ordered if the machine's clock was wrong. The time is then for display.
 */
export type PointInTime =
  | { readonly lsn: string; readonly timestamp?: string | undefined }
  | { readonly timestamp: string };

/** @param lsn the position of the time, if it is known */
export const pointInTime = (timestamp: string, lsn: string | null | undefined): PointInTime =>
  lsn ? { lsn, timestamp } : { timestamp };

/** Returns the point as a parameter of a request. */
export const pointInTimeParameter = (at: PointInTime): string => ('lsn' in at ? at.lsn : at.timestamp);
