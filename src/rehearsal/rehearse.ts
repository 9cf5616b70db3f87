/** Rehearses a migration: on a copy of a branch, which is deleted in every case. */
import { createPgClient } from '../base/sql/pgClient.ts';
import type { Rehearsal } from '../api/records/rehearsal.ts';
import { lossesOf, possibleLosses, type Loss, type PossibleLoss } from './losses.ts';
import { reportOf, type Report, type Rules } from './report.ts';

/** Milliseconds after which the service deletes a copy that was left behind. */
export const COPY_LIFETIME = 24 * 3_600_000;

/** Contains a secret: `url` has the password of the owner. */
export interface BranchCopy {
  readonly url: string;
}

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
    const losses =
      possible.length === 0
        ? []
        : await withCopy(rehearser, signal, async (original) =>
            countLosses(possible, { original, branch }, signal),
          );
    return reportOf({ rehearsal, losses, exitCode }, rules);
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
  for (const loss of possible) {
    signal?.throwIfAborted();
    counted.push(...(await countLoss(loss, branches, signal)));
  }
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
async function count(
  copy: BranchCopy,
  { database, sql }: { readonly database: string; readonly sql: string },
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const url = new URL(copy.url);
  url.pathname = `/${encodeURIComponent(database)}`;
  const client = createPgClient({ connectionString: url.href, options: '-c row_security=off' });
  const onAbort = () => client.connection.stream.destroy(new Error('Canceled.'));
  signal?.addEventListener('abort', onAbort);
  try {
    await client.connect();
    const { rows } = await client.query<{ counts: string[] }>(sql);
    return rows[0]?.counts ?? [];
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await client.end().catch(() => undefined);
  }
}
