/** The moments of a branch that Undo offers, and where the data of each moment is. */
import type { RestoreSource } from '../account/refs.ts';
import type { SchemaChange, Snapshot } from '../../api/records/records.ts';
import { pointInTime, type PointInTime } from '../../api/records/pointInTime.ts';
import type { BranchRef } from '../account/refs.ts';
import { snapshotTime } from '../inventory/snapshotLists.ts';
import type { GitEvent } from './headLog.ts';
import type { Marker } from './markers.ts';

type MomentKind =
  /** @property name the branch with the data from before the last undo */
  | { readonly kind: 'undo'; readonly name: string }
  /** @property changes for the first of a series of this agent's changes, how many the series has; otherwise 1 */
  | { readonly kind: 'agent'; readonly by: string; readonly text: string; readonly changes: number }
  | { readonly kind: 'program' | 'mark'; readonly text: string }
  | ({ readonly kind: 'schema' } & Omit<SchemaChange, 'before' | 'lsn'>)
  /** @property isOfOther whether it was made of a branch that is gone, whose data this one may never have had */
  | { readonly kind: 'snapshot'; readonly id: string; readonly text: string; readonly isOfOther?: boolean }
  | Pick<GitEvent, 'kind' | 'commit' | 'text'>
  | { readonly kind: 'ago'; readonly seconds: number }
  | { readonly kind: 'created' };

/** A moment of a branch that the user can go back to. */
export type Moment = MomentKind & {
  /** Milliseconds since 1970. The moment is just before this time. */
  readonly time: number;
  readonly source: RestoreSource;
};

/** The moment of a snapshot. */
export type SnapshotMoment = Extract<Moment, { readonly kind: 'snapshot' }>;

/** What is known of a branch without a request. Times are in milliseconds since 1970. */
export interface BranchHistory {
  readonly ref: BranchRef;
  readonly now: number;
  /** How long the project keeps history, in seconds; undefined if it isn't known. */
  readonly retention: number | undefined;
  readonly markersOf: (branchId: string) => readonly Marker[];
  /** When the branch was created or got other data from its parent; undefined if it no longer exists. */
  readonly startOf: (branchId: string) => number | undefined;
  /** When the branch itself was created; undefined if it isn't known. */
  readonly createdAt: number | undefined;
  /** Whether the service restores what the branch had when it was created. */
  readonly hasFirstMoment?: boolean;
  readonly gitEvents: readonly GitEvent[];
  /** The changes from the log of the branch and in its order, if the log is known. */
  readonly schemaChanges?: readonly SchemaChange[];
  /** The project's snapshots, unless they aren't offered or asked for. */
  readonly snapshots?: readonly Snapshot[];
  /** The branch whose row the snapshot is below; undefined if it is gone. */
  readonly ownerOf?: (snapshot: Snapshot) => string | undefined;
}

/** A period in the past of a branch. Since an undo, its data and history may be those of another branch. */
interface Segment {
  readonly branchId: string;
  readonly from: number;
  readonly to: number;
  /** The undo with which the time span begins. */
  readonly undo: Marker | undefined;
}

/** The most periods of a past. A chain of undos is followed no further. */
const MAX_SEGMENTS = 20;

/** Returns the periods in the past of a branch, the newest first, as far as the retention goes back. */
function pastSegments({
  ref,
  now,
  retention,
  markersOf,
  startOf,
  createdAt = 0,
}: BranchHistory): readonly Segment[] {
  const segments: Segment[] = [];
  const kept = retention === undefined ? 0 : now - retention * 1000;
  let branchId: string | undefined = ref.branchId;
  let to = now + 1;
  while (branchId !== undefined && segments.length < MAX_SEGMENTS && to > kept) {
    const start: number | undefined = startOf(branchId);
    if (start === undefined) break;
    const isFirst = segments.length === 0;
    const before = to;
    const undo: Marker | undefined = markersOf(branchId).find(
      ({ kind, time }) => kind === 'undo' && Date.parse(time) < before,
    );
    const undone: number = undo === undefined ? 0 : Date.parse(undo.time);
    // A branch that keeps the data from before an undo was created by it, with the history from before. Services may count
    // the branch as created by the undo, too.
    const from = isFirst ? start : createdAt < to ? createdAt : 0;
    segments.push({ branchId, from: Math.max(kept, undone, from), to, undo });
    [branchId, to] = [undo?.preserved, undone];
  }
  return segments;
}

/** Returns the earliest moment that can be restored, as far as it is known. */
export const earliestMoment = (history: BranchHistory): number =>
  pastSegments(history).at(-1)?.from ?? history.now;

const segmentAt = (segments: readonly Segment[], time: number): Segment | undefined =>
  segments.find(({ from, to }) => time >= from && time < to);

/** Returns the branch that has the data of this branch at a time. @param at if it is an LSN, it is always one of this branch itself */
export function restoreSourceAt(history: BranchHistory, at: PointInTime): RestoreSource {
  const { branchId } = history.ref;
  if ('lsn' in at) return { branchId, at };
  const time = Date.parse(at.timestamp);
  return { branchId: segmentAt(pastSegments(history), time)?.branchId ?? branchId, at };
}

/** Times to offer, in seconds before now. */
const PRESETS = [60, 5 * 60, 60 * 60];

/** The most moments in a list. More would be hard to read. */
const MAX_MOMENTS = 50;

/** Returns the moments of a branch, the newest first, but before all others the one that undoes the last undo. */
export function listMoments(history: BranchHistory): readonly Moment[] {
  const { now, gitEvents, createdAt, hasFirstMoment } = history;
  const segments = pastSegments(history);
  const marked = segments.flatMap((segment) => [
    ...momentsOfMarkers(segment, history),
    ...(segment.undo === undefined ? [] : undoMoment(segment.undo, history)),
  ]);
  const times = [
    ...gitEvents.map(({ kind, commit, text, time }) => ({ kind, commit, text, time })),
    ...PRESETS.map((seconds) => ({ kind: 'ago' as const, seconds, time: now - seconds * 1000 })),
    ...(hasFirstMoment && createdAt ? [{ kind: 'created' as const, time: createdAt }] : []),
  ].filter(({ time }) => segmentAt(segments, time) !== undefined);
  const others = times.map((moment) => {
    const at = { timestamp: new Date(moment.time).toISOString() };
    return { ...moment, source: restoreSourceAt(history, at) };
  });
  const all = [...marked, ...schemaMoments(history, segments, marked), ...others].toSorted(newestFirst);
  const lastUndo = all.filter(({ kind }) => kind === 'undo').slice(0, 1);
  const latest = all
    .filter((moment) => !lastUndo.includes(moment))
    .filter(
      ({ kind }, index) => kind === 'mark' || kind === 'created' || index < MAX_MOMENTS - lastUndo.length,
    );
  // There are few snapshots and marks, so they aren't limited.
  return [...lastUndo, ...[...latest, ...snapshotMoments(history)].toSorted(newestFirst)];
}

interface ArrangedMoments {
  readonly useful: readonly Moment[];
  /** The moments since which nothing has changed. */
  readonly unchanged: readonly Moment[];
  /** The moment to offer first: just before the last change that is known by name, or else the newest useful one. */
  readonly first: Moment | undefined;
}

/** @param isUnchanged whether it is known that nothing has changed since the moment */
export function arrangeMoments(
  moments: readonly Moment[],
  isUnchanged: (moment: Moment) => boolean,
): ArrangedMoments {
  const [useful, unchanged] = [moments.filter((each) => !isUnchanged(each)), moments.filter(isUnchanged)];
  const changes = useful.filter(({ kind }) => ['undo', 'agent', 'program', 'schema'].includes(kind));
  const first = changes.toSorted(newestFirst)[0] ?? useful[0] ?? unchanged[0];
  return { useful, unchanged, first };
}

const newestFirst = (a: Moment, b: Moment): number => b.time - a.time;

/** Milliseconds between a marker and the change that it names. */
const NAMED_BEFORE = 10_000;

/** Returns the changes of the schema and large deletions, except those that a marker names already. */
function schemaMoments(
  history: BranchHistory,
  segments: readonly Segment[],
  marked: readonly Moment[],
): readonly Moment[] {
  const names = marked.filter(({ kind }) => kind === 'agent' || kind === 'program');
  const earliest = segments.at(-1)?.from ?? Infinity;
  const changes = history.schemaChanges ?? [];
  // What follows in the log is later, also if its time is earlier because the clock was wrong.
  const first = changes.findIndex(({ before }) => Date.parse(before) >= earliest);
  return changes.slice(first === -1 ? changes.length : first).flatMap(({ before, lsn, ...change }) => {
    const time = Date.parse(before);
    const isNamed = names.some((each) => each.time <= time && time - each.time <= NAMED_BEFORE);
    if (isNamed || (!lsn && segmentAt(segments, time) === undefined)) return [];
    const source = restoreSourceAt(history, pointInTime(before, lsn));
    return [{ kind: 'schema' as const, ...change, time, source }];
  });
}

/** Returns the branch's snapshots, and those whose branch is gone. */
const snapshotMoments = ({ ref, snapshots = [], ownerOf }: BranchHistory): readonly Moment[] =>
  snapshots.flatMap((snapshot) => {
    const owner = ownerOf?.(snapshot);
    const moment = snapshotMoment(ref.branchId, snapshot);
    if (owner === undefined) return [{ ...moment, isOfOther: true }];
    return owner === ref.branchId ? [moment] : [];
  });

export const snapshotMoment = (branchId: string, snapshot: Snapshot): SnapshotMoment => ({
  kind: 'snapshot',
  id: snapshot.id,
  text: snapshot.name,
  time: snapshotTime(snapshot),
  source: { branchId, snapshotId: snapshot.id },
});

function undoMoment({ time, text, preserved }: Marker, { startOf }: BranchHistory): readonly Moment[] {
  if (preserved === undefined || startOf(preserved) === undefined) return [];
  return [{ kind: 'undo', name: text, time: Date.parse(time), source: { branchId: preserved } }];
}

function momentsOfMarkers({ branchId, from, to }: Segment, { markersOf }: BranchHistory): readonly Moment[] {
  const markers = markersOf(branchId).filter(({ kind, time }) => {
    const at = Date.parse(time);
    return kind !== 'undo' && at >= from && at < to;
  });
  const changes = countChanges(markers);
  return markers.map(({ kind, text, time, by = '' }, index): Moment => {
    const moment = { text, time: Date.parse(time), source: { branchId, at: { timestamp: time } } };
    return kind === 'agent'
      ? { ...moment, kind, by, changes: changes[index] ?? 1 }
      : { ...moment, kind: kind === 'mark' ? kind : 'program' };
  });
}

/** Milliseconds between changes of an agent that belong together. */
const TURN_GAP = 10 * 60_000;

/**
 * Returns a number for each marker: for the first marker of a series of an agent's changes, how many changes the series has, and
 * otherwise 1.
 * @param markers the newest first
 */
function countChanges(markers: readonly Marker[]): readonly number[] {
  const continuesSeries = (later: Marker | undefined, earlier: Marker | undefined) =>
    later?.kind === 'agent' &&
    // A turn begins something new.
    later.text !== '' &&
    earlier?.kind === 'agent' &&
    later.by === earlier.by &&
    Date.parse(later.time) - Date.parse(earlier.time) <= TURN_GAP;
  let run = 0;
  return markers.map((marker, index) => {
    run = continuesSeries(markers[index - 1], marker) ? run + 1 : 1;
    return continuesSeries(marker, markers[index + 1]) ? 1 : run;
  });
}

/** Which of git's events happened while the branch was that of the checked-out git branch. */
export const gitEventsOfBranch = (
  events: readonly GitEvent[],
  isBranchOf: (gitBranch: string | undefined) => boolean,
): readonly GitEvent[] => events.filter(({ gitBranch }) => isBranchOf(gitBranch)).slice(0, MAX_MOMENTS);
