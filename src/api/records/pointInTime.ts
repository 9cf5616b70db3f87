/**
 * A point in the history of a branch: with all that was written before a position (LSN), or committed until a time (ISO 8601). With
 * both, the position counts, because times aren't ordered if the machine's clock was wrong; the time is for display.
 */
export type PointInTime =
  | { readonly lsn: string; readonly timestamp?: string | undefined }
  | { readonly timestamp: string };

/** @param lsn the position of the time, if it is known */
export const pointInTime = (timestamp: string, lsn: string | null | undefined): PointInTime =>
  lsn ? { lsn, timestamp } : { timestamp };

/** Returns the point as a parameter of a request. */
export const pointInTimeParameter = (at: PointInTime): string => ('lsn' in at ? at.lsn : at.timestamp);
