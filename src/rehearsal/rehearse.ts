/** Rehearses a migration on a copy of a branch. The copy is deleted even if the rehearsal fails. */
import type { BranchOrigin, CopySource } from '../api/records/pointInTime.ts';
import type { Rehearsal } from '../api/records/rehearsal.ts';
import type { SkippedStatement } from '../migrations/publicService.ts';
import { limitConcurrency } from '../base/limitConcurrency.ts';
import { databaseOfCopy, withCopySession, type BranchCopy } from './branchCopy.ts';
import { LockSampler } from './lockSampler.ts';
import {
  lossesFromCounts,
  possibleLosses,
  unloggedLosses,
  type DataLoss,
  type PossibleLoss,
} from './losses.ts';
import { createReport, type RehearsalReport, type VerdictRules, type WayBackRun } from './report.ts';
import { withPlaces, withSkips, type MigrationFile } from './statementRanges.ts';
import { NO_TRIALS, tryCallersAfterMigration, reportBrokenRelations } from './trials.ts';
import {
  compareDumps,
  dropNewTables,
  rehearsalOfWayBack,
  runDownSteps,
  type DownStep,
  type LinesOfSchemaDiff,
} from './wayBack.ts';

/** How many tables are counted at a time, on each copy. */
const COUNTS_AT_A_TIME = 4;

/** What a rehearsal needs of a service: copies of one branch, and what the service has seen on a copy. */
export interface Rehearser<Copy extends BranchCopy> {
  /**
   * Returns a new branch, whose compute runs. The branch expires by itself.
   * @param source of which data the copy is; undefined for the branch's data as they are now
   */
  copyBranch(source?: CopySource): Promise<Copy>;
  /** Returns of which data a copy of now is; undefined if that isn't known. */
  origin(copy: Copy): Promise<BranchOrigin | undefined>;
  /** Returns whether the data certainly haven't changed since. Undefined if the service never knows that. */
  readonly isUnchangedSince: ((origin: BranchOrigin) => Promise<boolean>) | undefined;
  /** Returns whether the service sees statements. Otherwise, locks are sampled. */
  startRehearsal(copy: Copy): Promise<boolean>;
  /** Returns what was seen so far. */
  rehearsal(copy: Copy): Promise<Rehearsal>;
  /** Returns the schema of a database as pg_dump writes it. */
  schema(copy: Copy, database: string): Promise<string>;
  delete(copy: Copy): Promise<void>;
}

/** What a rehearsal runs on the copy. */
export interface RehearsedSteps<Copy> {
  /** Applies the migration to the copy. @returns its exit code */
  run(this: void, copy: Copy): Promise<number>;
  /** The files of the migration, if they are known. */
  readonly files?: readonly MigrationFile[] | undefined;
  /** Receives the statements of files that `run` skips. */
  readonly skipped?: readonly SkippedStatement[];
  /** What takes the migration back, if that is known. */
  readonly down?: DownStep<Copy> | undefined;
}

/** Runs a migration on a copy, and reports what it does. @param signal ends everything but `run` */
export async function rehearse<Copy extends BranchCopy>(
  rehearser: Rehearser<Copy>,
  steps: RehearsedSteps<Copy>,
  rules: VerdictRules,
  signal?: AbortSignal,
): Promise<RehearsalReport> {
  return await withCopies(rehearser, signal, async (copying, ends) => {
    const branch = await copying.copyBranch();
    if (await copying.startRehearsal(branch))
      return await runStepsAndReport(branch, copying, steps, rules, ends);
    const sampler = await LockSampler.start(branch);
    try {
      const sampled = { ...copying, rehearsal: async () => sampler.read() };
      return await runStepsAndReport(branch, sampled, steps, rules, ends);
    } finally {
      await sampler.end();
    }
  });
}

async function runStepsAndReport<Copy extends BranchCopy>(
  branch: Copy,
  rehearser: Rehearser<Copy>,
  { run, down, files = [], skipped = [] }: RehearsedSteps<Copy>,
  rules: VerdictRules,
  signal: AbortSignal | undefined,
): Promise<RehearsalReport> {
  const exitCode = await run(branch);
  const seen = await rehearser.rehearsal(branch);
  const rehearsal = { ...seen, statements: withSkips(withPlaces(seen.statements, files), skipped) };
  const possible = possibleLosses(rehearsal);
  // After a failure, nothing is tried: the copy is in a state in which the user wouldn't leave the branch.
  const trying =
    exitCode === 0 ? tryCallersAfterMigration(rehearsal, branch, signal) : Promise.resolve(NO_TRIALS);
  const back = exitCode === 0 ? down : undefined;
  const compareWithOriginal = async () => {
    const [{ original, isLater }, trials] = await Promise.all([copyOriginal(rehearser, branch), trying]);
    return {
      isComparedWithLater: isLater,
      losses: await countLosses(possible, { original, branch }, signal),
      tried: await reportBrokenRelations(trials, original, signal),
      wayBack: back && (await rehearseWayBack(rehearser, rehearsal, { original, branch }, back, signal)),
    };
  };
  const isCompared = possible.length > 0 || back !== undefined || (await trying).failures.length > 0;
  const found = isCompared
    ? await compareWithOriginal()
    : { losses: [], tried: { ...(await trying), broken: [] } };
  const losses = [...found.losses, ...unloggedLosses(rehearsal)];
  const names = files.map(({ file }) => file);
  const { sharedRoles = [] } = branch;
  return createReport({ rehearsal, ...found, losses, exitCode, files: names, skipped, sharedRoles }, rules);
}

/**
 * Makes a copy with the data that the first copy had at its beginning, which others may have changed on the branch since.
 * @returns also whether the copy has later data, because the service couldn't copy those, such as for a branch without history
 */
async function copyOriginal<Copy extends BranchCopy>(
  rehearser: Rehearser<Copy>,
  branch: Copy,
): Promise<{ readonly original: Copy; readonly isLater: boolean }> {
  const origin = await rehearser.origin(branch).catch(() => undefined);
  if (origin === undefined) return { original: await rehearser.copyBranch(), isLater: true };
  const isUnchanged = async () => (await rehearser.isUnchangedSince?.(origin).catch(() => false)) === true;
  // A copy of now is faster, because the log needn't be recovered. Others may change the branch while it is made.
  const now = (await isUnchanged()) ? await rehearser.copyBranch({ branchId: origin.branchId }) : undefined;
  if (now !== undefined && (await isUnchanged())) return { original: now, isLater: false };
  const original = await rehearser.copyBranch(origin).catch(() => undefined);
  if (original !== undefined) return { original, isLater: false };
  return { original: now ?? (await rehearser.copyBranch()), isLater: true };
}

/** Takes the migration back, and compares the data and the schema with those before it. */
async function rehearseWayBack<Copy extends BranchCopy>(
  rehearser: Rehearser<Copy>,
  rehearsal: Rehearsal,
  branches: Readonly<Record<'original' | 'branch', Copy>>,
  down: DownStep<Copy>,
  signal: AbortSignal | undefined,
): Promise<WayBackRun> {
  // The statements of the way back. The copy has also run the migration and the trials.
  const own = new Set<number>();
  const run = async (copy: Copy) => {
    const from = (await rehearser.rehearsal(copy)).statements.length;
    const exitCode = await down.run(copy);
    const to = (await rehearser.rehearsal(copy)).statements.length;
    for (let index = from; index < to; index += 1) own.add(index);
    return exitCode;
  };
  const exitCode = await runDownSteps(rehearsal, branches, { ...down, run }, signal);
  const both = await rehearser.rehearsal(branches.branch);
  const seen = { rehearsal: rehearsalOfWayBack(both, rehearsal.after, own), exitCode };
  if (exitCode !== 0) return { ...seen, losses: [], schema: { forgotten: [], left: [] } };
  const { branch } = branches;
  const { before } = rehearsal;
  const losses = await countLosses(
    possibleLosses({ ...both, before }, { areValuesCompared: true }),
    branches,
    signal,
  );
  const tables = await dropNewTables(branch, { ...both, before }, signal);
  const databases = new Set([databaseOfCopy(branch), ...before.map(({ database }) => database)]);
  const all: LinesOfSchemaDiff[] = [];
  for (const database of databases) {
    const dump = async (copy: Copy) => rehearser.schema(copy, database);
    all.push(compareDumps(await dump(branches.original), await dump(branch)));
  }
  const schema = {
    forgotten: all.flatMap(({ forgotten }) => forgotten),
    left: [...tables, ...all.flatMap(({ left }) => left)],
  };
  return { ...seen, losses: [...losses, ...unloggedLosses({ ...both, before })], schema };
}

/**
 * Runs a task that makes copies, and deletes all of them at the end. That includes a copy that is still being made when the task fails.
 * @param task gets a signal that is also aborted when a part of the task fails, so that its other parts end before the copies are
 * deleted
 */
async function withCopies<Copy extends BranchCopy, T>(
  rehearser: Rehearser<Copy>,
  signal: AbortSignal | undefined,
  task: (copying: Rehearser<Copy>, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const failure = new AbortController();
  const ends = signal === undefined ? failure.signal : AbortSignal.any([signal, failure.signal]);
  const copies: Promise<Copy>[] = [];
  const copyBranch = async (source?: CopySource) => {
    // By then, the copies are being deleted.
    ends.throwIfAborted();
    const copying = rehearser.copyBranch(source);
    copies.push(copying);
    const copy = await copying;
    ends.throwIfAborted();
    return copy;
  };
  try {
    return await task({ ...rehearser, copyBranch }, ends);
  } catch (error) {
    failure.abort(error);
    throw error;
  } finally {
    const deletions = (await Promise.allSettled(copies)).map(async (made) => {
      if (made.status === 'fulfilled') await rehearser.delete(made.value);
    });
    await Promise.allSettled(deletions);
    await Promise.all(deletions);
  }
}

/** The branch of the rehearsal, and another copy of the data as they are before the migration. */
type Branches = Readonly<Record<'original' | 'branch', BranchCopy>>;

async function countLosses(
  possible: readonly PossibleLoss[],
  branches: Branches,
  signal: AbortSignal | undefined,
): Promise<DataLoss[]> {
  const atATime = limitConcurrency(COUNTS_AT_A_TIME);
  const counting = possible.map(async (loss) => atATime(async () => countLoss(loss, branches, signal)));
  return (await Promise.all(counting)).flat();
}

/** Runs the queries of a possible loss on both copies, and compares their results. */
async function countLoss(
  loss: PossibleLoss,
  { original, branch }: Branches,
  signal: AbortSignal | undefined,
): Promise<DataLoss[]> {
  const { database, before, after } = loss;
  const countOn = async (copy: BranchCopy, sql: string) => readCounts(copy, { database, sql }, signal);
  const [last] = after.slice(-1);
  const counting = countOn(original, before);
  const countAfterwards = async () => {
    for (const sql of after.slice(0, -1)) {
      // Postgres may have no cast to the former type.
      const now = await countOn(branch, sql).catch(() => []);
      if (now[0] === (await counting)[0]) return now;
    }
    return last === undefined ? [] : countOn(branch, last);
  };
  // Both servers count at the same time.
  const [old, now] = await Promise.all([counting, countAfterwards()]);
  return lossesFromCounts(loss, old, now);
}

/** Returns what a query counts. @throws {Error} also if a policy hides rows from their owner */
const readCounts = async (
  copy: BranchCopy,
  { database, sql }: { readonly database: string; readonly sql: string },
  signal: AbortSignal | undefined,
): Promise<string[]> =>
  withCopySession(copy, { database, options: '-c row_security=off' }, signal, async (client) => {
    const { rows } = await client.query<{ counts: string[] }>(sql);
    return rows[0]?.counts ?? [];
  });
