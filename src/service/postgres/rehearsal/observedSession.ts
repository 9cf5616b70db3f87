/** A client's session during a rehearsal. */
import type { HeldLock } from '../../../api/records/rehearsal.ts';

export type Changing<T> = { -readonly [Key in keyof T]: T[Key] };

export interface ObservedSession {
  readonly number: number;
  database?: string | undefined;
  /** The number of the open transaction. */
  transaction?: number | undefined;
  /** The index of the statement that runs, or of the last one. */
  statement: number;
  isRunning: boolean;
  /** How long the commits of the statement were held. */
  hold: Hold;
  /** The locks that the session holds, as last read. Each end of a transaction replaces the map. */
  held: Map<string, Changing<HeldLock>>;
}

interface Hold {
  readonly milliseconds: number;
  /** The time after the locks of the last transaction were read. */
  readonly counting: number;
}
export const NOT_HELD: Hold = { milliseconds: 0, counting: 0 };

export const newSession = (number: number): ObservedSession => ({
  number,
  statement: -1,
  isRunning: false,
  hold: NOT_HELD,
  held: new Map(),
});

/** @param end when its locks were released */
export function endTransaction(session: ObservedSession, end: number): void {
  session.transaction = undefined;
  for (const lock of session.held.values()) lock.to = end;
  session.held = new Map();
}
