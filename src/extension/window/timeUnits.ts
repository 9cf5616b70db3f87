/** The units in which durations are shown, with their seconds, the largest first. */
export const TIME_UNITS = [
  ['day', 24 * 60 * 60],
  ['hour', 60 * 60],
  ['minute', 60],
  ['second', 1],
] as const;
