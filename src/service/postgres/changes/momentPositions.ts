/** Finds where moments are in the write-ahead log. A branch that is created at a moment has all records before its position. */
import type { Moment } from '../../core/branchHistory.ts';
import { parseLsn } from '../../core/lsn.ts';
import type { BaseBackupRecord } from '../history/history.ts';
import { findBase, toMicroseconds } from '../copies/recoverTo.ts';
import { CommitTimeCheck } from '../wal/commitTimeCheck.ts';
import type { WalRecord } from '../wal/walRecords.ts';

/** Finds the positions of several moments while the WAL is read. */
export class MomentPositions {
  readonly #found: readonly (() => number | undefined)[];
  /** The check of each time, and the position from where on it gets records. */
  readonly #checks: { readonly check: CommitTimeCheck; readonly start: number }[] = [];

  /** @param from where the records begin */
  constructor(moments: readonly Moment[], bases: readonly BaseBackupRecord[], from: number) {
    this.#found = moments.map((moment) => {
      if ('lsn' in moment) return () => parseLsn(moment.lsn);
      const base = findBase(bases, moment);
      if (base === undefined) return () => undefined;
      const check = new CommitTimeCheck(
        toMicroseconds(moment.timestamp),
        base.start >= from ? base.end : undefined,
      );
      this.#checks.push({ check, start: base.start });
      return () => check.position;
    });
  }

  /** Whether records must be read to find the positions. */
  get needRecords(): boolean {
    return this.#checks.length > 0;
  }

  add(record: WalRecord): void {
    if (record.time === undefined) return;
    for (const { check, start } of this.#checks) if (record.start >= start) check.add(record);
  }

  /** Returns the position of each moment; undefined if it isn't known. */
  result(): readonly (number | undefined)[] {
    return this.#found.map((find) => find());
  }
}
