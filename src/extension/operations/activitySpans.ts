/** When a compute was active during the last day, from its operations. */
import type { Compute, Operation } from '../../api/records/records.ts';
import { isFailedOperation, isEndedOperation } from './pendingChange.ts';

/**
 * What a compute did. `unknown` is the time before the oldest operation that the service still has, or before the compute existed.
 */
export type ActivityPhase = 'active' | 'idle' | 'starting' | 'unknown';

/** A time in which a compute did one thing. Times are in milliseconds since 1970. */
export interface ActivitySpan {
  readonly phase: ActivityPhase;
  readonly from: number;
  readonly to: number;
}

/** Operations, and since when they are known. */
export interface KnownOperations {
  /** The operations of the project, in any order. */
  readonly operations: readonly Operation[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The time before which operations are unknown, in milliseconds since 1970. */
  readonly knownSince?: number | undefined;
}

/** One start of a compute. Times are in milliseconds since 1970. */
export interface ComputeStart {
  readonly at: number;
  /** When the compute had started. */
  readonly ready: number;
  readonly isRestart: boolean;
}

/** A day in milliseconds. */
export const DAY_MILLISECONDS = 24 * 60 * 60_000;

/** Returns the time since which all operations are known, if the service has older ones. */
export function operationsKnownSince(found: {
  readonly operations: readonly Operation[];
  readonly isComplete: boolean;
}): number | undefined {
  const oldest = found.isComplete ? undefined : found.operations.at(-1);
  return oldest && (startTimeOf(oldest) || undefined);
}

/** Returns milliseconds since 1970, or NaN. */
const startTimeOf = ({ created_at }: Pick<Operation, 'created_at'>): number => Date.parse(created_at ?? '');

/** Sorts operations, the oldest first. Those of one call may have the same time, and the list of a service has the newest first. */
const oldestFirst = (operations: readonly Operation[]): readonly Operation[] =>
  operations
    .filter((each) => !Number.isNaN(startTimeOf(each)))
    .toReversed()
    .sort((a, b) => startTimeOf(a) - startTimeOf(b));

/** Returns what a compute did on the last day: its phases, without gaps, and its starts, both the oldest first. */
export function lastDayActivity(
  compute: Compute,
  { operations, now, knownSince: known = 0 }: KnownOperations,
): { readonly spans: readonly ActivitySpan[]; readonly starts: readonly ComputeStart[] } {
  const own = operations.filter(({ endpoint_id }) => endpoint_id === compute.id);
  const begin = Math.max(known, Date.parse(compute.created_at ?? '') || 0);
  return {
    spans: activitySpans(compute, oldestFirst(own), { now, knownSince: begin }),
    starts: startsOnLastDay(own, now),
  };
}

function activitySpans(
  { current_state, last_active }: Compute,
  operations: readonly Operation[],
  { now, knownSince: known }: { readonly now: number; readonly knownSince: number },
): readonly ActivitySpan[] {
  const isActive = current_state === 'active';
  const begin = now - DAY_MILLISECONDS;
  const spans: ActivitySpan[] = [];
  let cursor = begin;
  const addSpanUntil = (phase: ActivityPhase, end: number) => {
    const to = Math.min(Math.max(end, cursor), now);
    const last = spans.at(-1);
    if (to > cursor && last?.phase === phase) spans.splice(-1, 1, { ...last, to });
    else if (to > cursor) spans.push({ phase, from: cursor, to });
    cursor = to;
  };
  addSpanUntil('unknown', known);
  const changes = operations.filter(({ action }) => action in PHASES_AFTER);
  let phase: ActivityPhase = firstPhase(changes[0], isActive);
  for (const change of changes) {
    if (change.status === 'scheduling' || change.status === 'skipped') continue;
    addSpanUntil(phase, startTimeOf(change));
    if (change.action !== 'start_compute') phase = PHASES_AFTER[change.action] ?? phase;
    else {
      addSpanUntil(
        'starting',
        isEndedOperation(change) ? startTimeOf(change) + (change.total_duration_ms ?? 0) : now,
      );
      phase = isFailedOperation(change) ? 'idle' : 'active';
    }
  }
  // A service that ends suspends its computes without an operation.
  if (phase === 'active' && !isActive)
    addSpanUntil('active', Math.min(Date.parse(last_active ?? '') || now, now));
  addSpanUntil(isActive ? 'active' : 'idle', now);
  return spans;
}

/** The phase of a compute after an operation. A service notes a crash as a check of the availability. */
const PHASES_AFTER: Readonly<Record<string, ActivityPhase>> = {
  start_compute: 'active',
  suspend_compute: 'idle',
  check_availability: 'idle',
};

function firstPhase(first: Operation | undefined, isActive: boolean): ActivityPhase {
  if (first === undefined) return isActive ? 'active' : 'idle';
  return first.action === 'start_compute' ? 'idle' : 'active';
}

/** Returns the milliseconds in a phase. */
export const totalTime = (spans: readonly ActivitySpan[], phase: ActivityPhase): number =>
  spans.reduce((sum, span) => sum + (span.phase === phase ? span.to - span.from : 0), 0);

/** Milliseconds between the operations of a restart. */
const RESTART_GAP = 2000;

function startsOnLastDay(operations: readonly Operation[], now: number): readonly ComputeStart[] {
  const ordered = oldestFirst(operations);
  return ordered.flatMap((operation, index) => {
    const at = startTimeOf(operation);
    if (operation.action !== 'start_compute' || isFailedOperation(operation) || at < now - DAY_MILLISECONDS)
      return [];
    const before = ordered[index - 1];
    const gap = before === undefined ? Infinity : at - startTimeOf(before) - (before.total_duration_ms ?? 0);
    const isRestart = before?.action === 'suspend_compute' && gap < RESTART_GAP;
    return [{ at, ready: at + (operation.total_duration_ms ?? 0), isRestart }];
  });
}
