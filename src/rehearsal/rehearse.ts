/** Rehearses a migration: on a copy of a branch, which is deleted in every case. */
import type { Rehearsal } from '../api/records/rehearsal.ts';
import { onCopy, type BranchCopy } from './branchCopy.ts';
import { lossesOf, possibleLosses, type Loss, type PossibleLoss } from './losses.ts';
import { reportOf, type Report, type Rules } from './report.ts';
import { NO_TRIALS, tryAfterwards, workedBefore } from './trials.ts';

/** Milliseconds after which the service deletes a copy that was left behind. */
export const COPY_LIFETIME = 24 * 3_600_000;

/** Makes copies of one branch by a service's API. */
export interface Rehearser<Copy extends BranchCopy> {
  /** @returns a new branch with the data as they are now, whose compute runs. It expires. */
  copyBranch(): Promise<Copy>;
  startRehearsal(copy: Copy): Promise<void>;
  rehearsal(copy: Copy): Promise<Rehearsal>;
  delete(copy: Copy): Promise<void>;
}

/**
 * @param run applies the migration to the copy, and returns its exit code
 * @param signal ends what comes after `run`
 */
export async function rehearse<Copy extends BranchCopy>(
  rehearser: Rehearser<Copy>,
  run: (copy: Copy) => Promise<number>,
  rules: Rules,
  signal?: AbortSignal,
): Promise<Report> {
  return await withCopy(rehearser, signal, async (branch) => {
    await rehearser.startRehearsal(branch);
    const exitCode = await run(branch);
    const rehearsal = await rehearser.rehearsal(branch);
    const possible = possibleLosses(rehearsal);
    // What has failed halfway isn't how it would be left.
    const trials = exitCode === 0 ? await tryAfterwards(rehearsal, branch, signal) : NO_TRIALS;
    const compared = async (original: Copy) => ({
      losses: await countLosses(possible, { original, branch }, signal),
      tried: await workedBefore(trials, original, signal),
    });
    const found =
      possible.length + trials.failures.length === 0
        ? { losses: [], tried: { ...trials, broken: [] } }
        : await withCopy(rehearser, signal, compared);
    return reportOf({ rehearsal, ...found, exitCode }, rules);
  });
}

async function withCopy<Copy extends BranchCopy, T>(
  rehearser: Rehearser<Copy>,
  signal: AbortSignal | undefined,
  task: (copy: Copy) => Promise<T>,
): Promise<T> {
  const copy = await rehearser.copyBranch();
  try {
    signal?.throwIfAborted();
    return await task(copy);
  } finally {
    await rehearser.delete(copy);
  }
}

/** The branch of the rehearsal, and another copy of the data as they are before the migration. */
type Branches = Readonly<Record<'original' | 'branch', BranchCopy>>;

async function countLosses(
  possible: readonly PossibleLoss[],
  branches: Branches,
  signal: AbortSignal | undefined,
): Promise<Loss[]> {
  const counted: Loss[] = [];
  for (const loss of possible) counted.push(...(await countLoss(loss, branches, signal)));
  return counted;
}

async function countLoss(
  loss: PossibleLoss,
  { original, branch }: Branches,
  signal: AbortSignal | undefined,
): Promise<Loss[]> {
  const { database, before, after } = loss;
  const countOn = async (copy: BranchCopy, sql: string) => count(copy, { database, sql }, signal);
  const old = await countOn(original, before);
  const [last] = after.slice(-1);
  for (const sql of after.slice(0, -1)) {
    // Postgres may have no cast to the former type.
    const now = await countOn(branch, sql).catch(() => []);
    if (now[0] === old[0]) return lossesOf(loss, old, now);
  }
  return lossesOf(loss, old, last === undefined ? [] : await countOn(branch, last));
}

/** @throws {Error} also for rows that the owner's own policies hide */
const count = async (
  copy: BranchCopy,
  { database, sql }: { readonly database: string; readonly sql: string },
  signal: AbortSignal | undefined,
): Promise<string[]> =>
  onCopy(copy, { database, options: '-c row_security=off' }, signal, async (client) => {
    const { rows } = await client.query<{ counts: string[] }>(sql);
    return rows[0]?.counts ?? [];
  });
