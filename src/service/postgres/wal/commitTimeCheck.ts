/**
 * Finds out whether the clock of the machine was at a time more than once, because it has gone back. Positions in a log are ordered,
 * times aren't. A record whose time is still in the future doesn't count, because the clock was wrong.
 */
import { EngineError } from '../../core/computeEngine.ts';
import { formatLsn } from '../../core/lsn.ts';
import type { WalRecord } from './walRecords.ts';

/** The most microseconds between two transactions that end together, which may be in either order in the log. */
const TOLERANCE = 1_000_000;

/**
 * Finds, while the WAL is read, the end of the last transaction until a moment, and whether the clock was at that moment more than
 * once.
 */
export class CommitTimeCheck {
  readonly #until: number;
  /** The end of this millisecond, because times in the log have microseconds. */
  readonly #now = (Date.now() + 1) * 1000;
  /** The latest time so far. */
  #latest = 0;
  /** The end of the last transaction so far. */
  #previousEnd: number | undefined;
  /** The end of the last transaction before the times in the log passed the moment for the first time. */
  #firstEnd: number | undefined;
  #isUnclear = false;
  #position: number | undefined;

  /**
   * @param until the moment, in microseconds since 1970
   * @param start the earliest position that can be restored; undefined if the records begin later
   */
  constructor(until: number, start: number | undefined) {
    this.#until = until;
    this.#previousEnd = this.#position = start;
  }

  /** The end of the last transaction at the moment or before; undefined if the log doesn't say which one that is. */
  get position(): number | undefined {
    return this.#isUnclear ? undefined : this.#position;
  }

  add({ time, end }: Pick<WalRecord, 'time' | 'end'>): void {
    if (time === undefined || time > this.#now) return;
    if (time > this.#until) this.#firstEnd ??= this.#previousEnd;
    else if (this.#latest > this.#until && this.#latest - time > TOLERANCE) this.#isUnclear = true;
    this.#latest = Math.max(this.#latest, time);
    this.#previousEnd = Math.max(this.#previousEnd ?? end, end);
    if (time <= this.#until) this.#position = this.#previousEnd;
  }

  /** @param last the last transaction at the moment or before. @throws {EngineError} with the positions to choose from */
  requireUnambiguousTime(branchId: string, last: WalRecord): void {
    if (!this.#isUnclear) return;
    const positions = [this.#firstEnd ?? this.#previousEnd ?? last.end, last.end].map(formatLsn);
    throw new EngineError(
      `The clock of this machine has gone back, so it was at this time more than once: branch ${branchId} was at ${positions.join(' before that, and at ')} after it. Choose one of these two positions (LSN) instead of the time.`,
    );
  }
}
