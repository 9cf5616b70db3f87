/** One line of the table: ours beside what it is measured against, in the same run. */
export interface Result {
  readonly what: string;
  /** Absolute values with their units. */
  readonly ours: string;
  readonly beside: string;
  /** Ours to the other; undefined where the goal is none of proportion. */
  readonly ratio: number | undefined;
  readonly goal: string;
  readonly met: boolean;
  readonly note: string;
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en-US')}/s`;

export const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`;
