/**
 * What happened to a branch and when, so that Undo can name the moment before it. A marker is a line of text; the data is in
 * the branch's history. Windows and agents without one share them, in the file of what agents own.
 */
import { isBranchId, isId } from '../../api/records/ids.ts';
import { fieldsOf } from '../../base/fieldsOf.ts';
import { isSameBranch, type BranchRef } from '../account/refs.ts';
import type { SharedMemory, SharedValues } from '../window/memory.ts';

/**
 * - `agent`: an agent wrote. `text`: its statement without values, or its tool. If it is empty, a turn of the agent began.
 * - `program`: a program or file that may change the schema was run. `text`: its name.
 * - `mark`: the user named the moment. `text`: the name.
 * - `undo`: the branch got earlier data. `text`: the name of the branch `preserved`, which has the data and history until then.
 */
type MarkerKind = 'agent' | 'program' | 'mark' | 'undo';

/** A moment of a branch that has a name, such as an agent's turn. */
export interface Marker extends BranchRef {
  /** The time just before the moment, as in the service's records. */
  readonly time: string;
  readonly kind: MarkerKind;
  /** Contains no secret. */
  readonly text: string;
  /** The name of the agent. */
  readonly by?: string | undefined;
  readonly preserved?: string | undefined;
  /** The id of an agent's turn, which is marked several times. Only the first time counts. */
  readonly turn?: string | undefined;
}

type NewMarker = Pick<Marker, 'kind' | 'text' | 'by' | 'preserved' | 'turn'>;

const ENTRY = 'hostedPostgres.markers';

/** The most markers. The oldest ones are dropped, and lasting ones are counted separately: see `isLasting`. */
const MAX_OF_BRANCH = 40;
const MAX_MARKERS = 400;
/** The most characters of a marker's text. */
export const MAX_MARKER_TEXT = 120;

interface MarkersOptions {
  /** Receives why a marker can't be written. The change that it marks must not fail. */
  readonly onError: (error: unknown) => void;
  readonly now?: () => number;
}

/** Stores and lists the markers of branches. */
export class Markers {
  readonly #memory: SharedMemory;
  readonly #onError: (error: unknown) => void;
  readonly #now: () => number;

  constructor(memory: SharedMemory, { onError, now = Date.now }: MarkersOptions) {
    this.#memory = memory;
    this.#onError = onError;
    this.#now = now;
  }

  /** Call this just before something changes the branch. Never throws. @param time the time in milliseconds since 1970 */
  add(ref: BranchRef, marker: NewMarker, time = this.#now()): void {
    this.#change((all) => addWithinLimits(all, this.#create(ref, marker, time)));
  }

  /**
   * Notes an undo, after which the branch has earlier data. Another branch has the data and history until now, so it gets the
   * markers, too. Never throws.
   * @param preserved the other branch with its name
   * @param time when the undo began, in milliseconds since 1970
   */
  addUndo(ref: BranchRef, preserved: { readonly id: string; readonly name: string }, time: number): void {
    const undo = this.#create(ref, { kind: 'undo', text: preserved.name, preserved: preserved.id }, time);
    this.#change((all) => {
      const moved = all.map((marker) =>
        isSameBranch(marker, ref) ? { ...marker, branchId: preserved.id } : marker,
      );
      return addWithinLimits(moved, undo);
    });
  }

  /** Returns the markers of a branch, the newest first. */
  ofBranch(ref: BranchRef): readonly Marker[] {
    return markersOf(this.#memory.values())
      .filter((marker) => isSameBranch(marker, ref))
      .toReversed();
  }

  #create(ref: BranchRef, { text, ...marker }: NewMarker, at: number): Marker {
    const { account, projectId, branchId } = ref;
    // The time is rounded up, because a transaction that has ended in this millisecond came before the marker.
    const time = new Date(at + 1).toISOString();
    return {
      account,
      projectId,
      branchId,
      time,
      text: text.slice(0, MAX_MARKER_TEXT).toWellFormed(),
      ...marker,
    };
  }

  #change(next: (all: readonly Marker[]) => readonly Marker[]): void {
    try {
      this.#memory.change((values) => ({ ...values, [ENTRY]: next(markersOf(values)) }));
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** Adds a marker, and drops the oldest ones beyond the limits. Only the first marker of a turn is added. */
function addWithinLimits(all: readonly Marker[], marker: Marker): readonly Marker[] {
  const isSameTurn = (each: Marker) => each.turn === marker.turn && isSameBranch(each, marker);
  if (marker.turn !== undefined && all.some(isSameTurn)) return all;
  const alike = all.filter((each) => isLasting(each) === isLasting(marker));
  const ofBranch = alike.filter((each) => isSameBranch(each, marker));
  const dropped = new Set([
    ...ofBranch.slice(0, -(MAX_OF_BRANCH - 1)),
    ...alike.slice(0, -(MAX_MARKERS - 1)),
  ]);
  return [...all.filter((each) => !dropped.has(each)), marker];
}

/** Whether the marker is kept when others are dropped. Agents write many markers, which must not displace those of the user. */
const isLasting = ({ kind }: Marker): boolean => kind === 'mark' || kind === 'undo';

function markersOf(values: SharedValues): readonly Marker[] {
  const stored = values[ENTRY];
  return Array.isArray(stored) ? stored.filter(isMarker) : [];
}

function isMarker(value: unknown): value is Marker {
  const { account, projectId, branchId, time, kind, text, preserved } = fieldsOf(value);
  return (
    [account, time, kind, text].every((field) => typeof field === 'string') &&
    isId(projectId) &&
    isBranchId(branchId) &&
    (preserved === undefined || isBranchId(preserved))
  );
}
