/** Which history of branches is kept, and whether a moment that a request names is in it. */
import { Timestamp } from '../../../api/records/requests.ts';
import type { Clock } from '../../../base/clock.ts';
import { toTimestamp } from '../../core/serviceClock.ts';
import type { BranchRetention, Moment } from '../../core/branchHistory.ts';
import type { ComputeEngine } from '../../core/computeEngine.ts';
import { badRequest, unprocessable } from '../../core/serviceErrors.ts';
import { parseLsn } from '../../core/lsn.ts';
import type { AccountState, ProjectState } from '../../state/accountState.ts';
import type { BranchRecord, ProjectRecord } from '../../state/storedRecords.ts';

/** A day in seconds, as on the public service. */
const DEFAULT_RETENTION = 86_400;

/** Returns how long a project keeps the history of its branches, in seconds; 0 for no history. */
export const historyRetention = ({
  history_retention_seconds = DEFAULT_RETENTION,
}: Pick<ProjectRecord, 'history_retention_seconds'>): number => history_retention_seconds;

/** Whether the history of the branch is kept. A branch that a program makes for a test keeps none: `maker` names that program. */
export const isHistoryKept = ({ record }: Pick<ProjectState, 'record'>, branch: BranchRecord): boolean =>
  historyRetention(record) > 0 && branch.annotation_value?.['maker'] === undefined;

/** Returns how long each branch keeps its history. @param isIncluded whether the branch with an id is asked for */
export const listRetentions = (
  account: AccountState,
  isIncluded: (branchId: string) => boolean,
): BranchRetention[] =>
  [...account.projects.values()].flatMap((project) =>
    [...project.branches.values()]
      .filter(({ id, current_state }) => current_state === 'ready' && isIncluded(id))
      .map((branch) => ({
        id: branch.id,
        seconds: isHistoryKept(project, branch) ? historyRetention(project.record) : 0,
      })),
  );

/**
 * @param fields two fields of a request: a position (LSN) and a time, by the field's name
 * @returns undefined for the current data
 * @throws {HttpError} 400 or 422 if it can't be read, or is in the future
 */
export function parseMoment(
  fields: Readonly<Record<string, string | undefined>>,
  now: number,
): Moment | undefined {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const [name = '', value] = given[0] ?? [];
  if (value === undefined) return undefined;
  if (given.length > 1) throw unprocessable(`${name}: a position and a time exclude each other.`);
  if (!name.endsWith('lsn')) {
    if (!Timestamp.safeParse(value).success)
      throw badRequest(`${name}: must be a time such as 2026-01-31T12:00:00Z.`);
    if (Date.parse(value) > now) throw unprocessable(`${name}: must not be in the future.`);
    return { timestamp: value };
  }
  if (parseLsn(value) === undefined)
    throw unprocessable(`${name}: must be a position (LSN) such as 0/15000A8.`);
  return { lsn: value };
}

/**
 * @returns the moment as a position, because that of a time could change with the machine's clock
 * @throws {HttpError} 422 with the earliest moment @throws {EngineError} if the time occurred more than once
 */
export async function findInHistory(
  plane: { readonly engine: Promise<ComputeEngine>; readonly clock: Clock },
  { record }: ProjectState,
  branchId: string,
  moment: Moment | undefined,
): Promise<Moment | undefined> {
  if (moment === undefined) return undefined;
  const retention = historyRetention(record);
  if (retention === 0)
    throw unprocessable(
      `Project ${record.id} keeps no history. Set its history_retention_seconds, for moments from then on.`,
    );
  const engine = await plane.engine;
  const timestamp = 'lsn' in moment ? undefined : moment.timestamp;
  const history = await engine.history(branchId, timestamp);
  /** Returns the error for a moment without history, with the reason if the disk is to blame. */
  const notInHistoryError = async (text: string) => {
    const reason = await engine.spaceProblem(branchId);
    return unprocessable(reason === undefined ? text : `${text} ${reason}`);
  };
  if (history === undefined)
    throw await notInHistoryError(`There is no history of branch ${branchId} yet. Use its current data.`);
  const { start, isWhole, startLsn, endLsn, lsnOfTime } = history;
  const kept = plane.clock.now() - retention * 1000;
  // The data of a branch is created when it is first needed. At any earlier time, the branch had the data that it begins with.
  const time = timestamp === undefined ? NaN : Date.parse(timestamp);
  if (isWhole && time < Date.parse(start) && time >= Math.max(kept, Date.parse(record.created_at)))
    return { lsn: startLsn, timestamp };
  const earliest = Math.max(Date.parse(start), kept);
  if ('lsn' in moment ? isLsnBefore(moment.lsn, startLsn) : Date.parse(moment.timestamp) < earliest) {
    const text = `The history of branch ${branchId} begins at ${toTimestamp(earliest)} (${startLsn}). Choose a later moment.`;
    // If the history reaches further back, the retention is the reason, and not the disk.
    throw earliest === Date.parse(start) ? await notInHistoryError(text) : unprocessable(text);
  }
  if ('lsn' in moment && isLsnBefore(endLsn, moment.lsn))
    throw unprocessable(`Branch ${branchId} is only at ${endLsn}, before ${moment.lsn}.`);
  return lsnOfTime === undefined ? moment : { lsn: lsnOfTime, timestamp };
}

const isLsnBefore = (lsn: string, other: string): boolean => (parseLsn(lsn) ?? 0) < (parseLsn(other) ?? 0);
