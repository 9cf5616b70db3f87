/** When a compute was active during the last day, from its operations. */
import type { Operation } from '../../api/records/records.ts';
import { hasFailed, isFinal } from './pendingChange.ts';

/** `unknown`: before the oldest operation that the service still has, or before the compute existed. */
export type Phase = 'active' | 'idle' | 'starting' | 'unknown';

/** Times in milliseconds since 1970. */
export interface Span {
  readonly phase: Phase;
  readonly from: number;
  readonly to: number;
}

export interface ComputeHistory {
  /** Of one compute, in any order. */
  readonly operations: readonly Operation[];
  readonly now: number;
  readonly isActive: boolean;
  readonly lastActive?: number | undefined;
  /** Before, nothing is known. */
  readonly knownSince: number;
}

export const DAY = 24 * 60 * 60_000;

/** Milliseconds since 1970, or NaN. */
export const timeOf = ({ created_at }: Pick<Operation, 'created_at'>): number => Date.parse(created_at ?? '');

/** Oldest first. The list of a service has the newest first, and operations of one call may have the same time. */
export const oldestFirst = (operations: readonly Operation[]): readonly Operation[] =>
  operations
    .filter((each) => !Number.isNaN(timeOf(each)))
    .toReversed()
    .sort((a, b) => timeOf(a) - timeOf(b));

/** The spans of the last day without gaps, oldest first. */
export function activitySpans({ operations, now, isActive, lastActive, knownSince }: ComputeHistory): Span[] {
  const begin = now - DAY;
  const spans: Span[] = [];
  let cursor = begin;
  const until = (phase: Phase, end: number) => {
    const to = Math.min(Math.max(end, cursor), now);
    const last = spans.at(-1);
    if (to > cursor && last?.phase === phase) spans.splice(-1, 1, { ...last, to });
    else if (to > cursor) spans.push({ phase, from: cursor, to });
    cursor = to;
  };
  until('unknown', knownSince);
  const changes = oldestFirst(operations).filter(({ action }) => action in PHASES_AFTER);
  let phase: Phase = firstPhase(changes[0], isActive);
  for (const change of changes) {
    if (change.status === 'scheduling' || change.status === 'skipped') continue;
    until(phase, timeOf(change));
    if (change.action !== 'start_compute') phase = PHASES_AFTER[change.action] ?? phase;
    else {
      until('starting', isFinal(change) ? timeOf(change) + (change.total_duration_ms ?? 0) : now);
      phase = hasFailed(change) ? 'idle' : 'active';
    }
  }
  // A service that ends suspends its computes without an operation.
  if (phase === 'active' && !isActive) until('active', Math.min(lastActive ?? now, now));
  until(isActive ? 'active' : 'idle', now);
  return spans;
}

/** A failed check is a crash. */
const PHASES_AFTER: Readonly<Record<string, Phase>> = {
  start_compute: 'active',
  suspend_compute: 'idle',
  check_availability: 'idle',
};

function firstPhase(first: Operation | undefined, isActive: boolean): Phase {
  if (first === undefined) return isActive ? 'active' : 'idle';
  return first.action === 'start_compute' ? 'idle' : 'active';
}

/** Milliseconds. */
export const timeIn = (spans: readonly Span[], phase: Phase): number =>
  spans.reduce((sum, span) => sum + (span.phase === phase ? span.to - span.from : 0), 0);

/** Milliseconds between the operations of a restart. */
const RESTART_GAP = 2000;

/** When the compute was started during the last day, oldest first. */
export function startsOf(operations: readonly Operation[], now: number) {
  const ordered = oldestFirst(operations);
  return ordered.flatMap((operation, index) => {
    const at = timeOf(operation);
    if (operation.action !== 'start_compute' || hasFailed(operation) || at < now - DAY) return [];
    const before = ordered[index - 1];
    const gap = before === undefined ? Infinity : at - timeOf(before) - (before.total_duration_ms ?? 0);
    const isRestart = before?.action === 'suspend_compute' && gap < RESTART_GAP;
    return [{ at, ready: at + (operation.total_duration_ms ?? 0), isRestart }];
  });
}
