import type { ControlPlane } from './controlPlane.ts';
import { query } from './clients.ts';

export const DAY = 86_400;
export const NO_LIMIT = 2 ** 40;
/** Nothing is too large, and each check makes a base, which begins with a checkpoint. */
export const LIMITS = { branch: NO_LIMIT, total: NO_LIMIT, leastWritten: 0, mostWritten: 0, leastFree: 0 };

/** Checks the history of a branch. It loses what is older than so many seconds. */
export const keepHistory = (
  { engine }: ControlPlane,
  id: string,
  seconds = DAY,
  limits: Partial<typeof LIMITS> = {},
): Promise<void> => engine.keepHistory([{ id, seconds }], { isAll: true, limits: { ...LIMITS, ...limits } });

/** What a query takes as the time on the server, to the microsecond. */
export const SERVER_TIME = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

export const serverTime = async (uri: string): Promise<string> =>
  String((await query(uri, `select ${SERVER_TIME}`))[0]);
